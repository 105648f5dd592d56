import type { Step } from '../../../shared/crawler/crawler.ts';
import type { Extract } from '../../../shared/crawler/document/reading.ts';
import { StepError } from '../../../shared/crawler/failures/step-error.ts';
import { Page } from '../../../shared/crawler/page.ts';
import type { FetchedPage } from '../../../shared/ports/fetcher.ts';
import { failureOf, mayFallBack, underPolicy } from '../../../shared/task/task/retry-policy.ts';
import type { Steps } from './steps.ts';
import { type Arrival, type Ending, failedStep, mostAttempts, stepOf, urlOf, type Visit } from './visit.ts';

/** A page, and what a step made of it. */
export interface ReadPage {
  readonly arrival: Arrival;
  readonly page: Page;
  readonly extract: Extract;
}

/** The ending after its step's own rules about attempts. */
export function underRules(visit: Visit, ending: Ending, random: number): Ending {
  const { attempts } = visit.state;
  const about = { attempts, maxAttempts: mostAttempts(visit), random, status: ending.status };
  return { ...ending, outcome: underPolicy(ending.outcome, stepOf(visit)?.retry, about) };
}

/**
 * Has the fallback of a failed step take over in the task's place, and the fallback's own one if it fails as well.
 *
 * @param given the page that the step failed with, if it got as far
 * @returns what a fallback made of it; else the ending, which is the last one's
 */
export async function fallBack(
  visit: Visit,
  given: Ending,
  steps: Pick<Steps, 'extract'>,
  read?: Pick<ReadPage, 'arrival' | 'page'>,
): Promise<{ readonly ending: Ending } | ({ readonly ending: Ending } & ReadPage)> {
  let ending = given;
  let step = fallbackOf(stepOf(visit), visit);
  const arrival = read?.arrival ?? { fetched: answerOf(visit, given), fromCache: false };
  const page = read?.page ?? new Page(visit.task, arrival.fetched);
  for (; step !== undefined; step = fallbackOf(step, visit)) {
    const { outcome, status } = ending;
    if (outcome.kind !== 'failed' || !mayFallBack(outcome.reason)) break;
    try {
      const failure = failureOf(outcome, status ?? read?.page.status);
      const extract = await steps.extract(visit.run, page, { step, failure });
      return { ending, arrival, page, extract };
    } catch (error: unknown) {
      if (!(error instanceof StepError)) throw error;
      // What the request said of the host still holds.
      const { outcome: failed, place } = failedStep(error);
      ending = { ...ending, outcome: failed, place };
    }
  }
  return { ending };
}

function fallbackOf(step: Step | undefined, { run }: Visit): Step | undefined {
  return step?.fallback === undefined ? undefined : run.crawler.stepNamed(step.fallback);
}

/** The host's answer; an empty one, of status 0, if there was none. */
function answerOf(visit: Visit, { answer, status = 0 }: Ending): FetchedPage {
  return answer ?? { finalUrl: urlOf(visit), status, headers: {}, body: new Uint8Array(), durationMs: 0 };
}
