import type { Step } from '../../../shared/crawler/crawler.ts';
import type { Extract } from '../../../shared/crawler/document/reading.ts';
import { StepError } from '../../../shared/crawler/failures/step-error.ts';
import { Page } from '../../../shared/crawler/page.ts';
import type { FetchedPage } from '../../../shared/ports/fetcher.ts';
import { failureOf, mayFallBack, underPolicy } from '../../../shared/task/task/retry-policy.ts';
import type { Steps } from './steps.ts';
import { type Arrival, type Ending, failedStep, mostAttempts, stepOf, urlOf, type Visit } from './visit.ts';

/** A page, and the result of a step for it. */
export interface ReadPage {
  readonly arrival: Arrival;
  readonly page: Page;
  readonly extract: Extract;
}

/** Returns the ending after applying its step's own rules about attempts. */
export function underRules(visit: Visit, ending: Ending, random: number): Ending {
  const { attempts } = visit.state;
  const about = { attempts, maxAttempts: mostAttempts(visit), random, status: ending.status };
  return { ...ending, outcome: underPolicy(ending.outcome, stepOf(visit)?.retry, about) };
}

/**
 * Lets the fallback of a failed step take over, then that fallback's own if it fails too, and so on.
 *
 * @param read the page with which the step failed, if it got that far
 * @returns the result of the first fallback that succeeds, otherwise only the ending, which is the last one's
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
      // The request's findings about the host still hold.
      const { outcome: failed, place } = failedStep(error);
      ending = { ...ending, outcome: failed, place };
    }
  }
  return { ending };
}

function fallbackOf(step: Step | undefined, { run }: Visit): Step | undefined {
  return step?.fallback === undefined ? undefined : run.crawler.stepNamed(step.fallback);
}

/** Returns the host's answer, or an empty one of status 0 if there was none. */
function answerOf(visit: Visit, { answer, status = 0 }: Ending): FetchedPage {
  return answer ?? { finalUrl: urlOf(visit), status, headers: {}, body: new Uint8Array(), durationMs: 0 };
}
