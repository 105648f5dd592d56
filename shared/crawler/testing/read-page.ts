import { judgeAnswer, judgeTaken, MOST_THROTTLES } from '../../task/task/judgement.ts';
import type { FailedReason, SkippedReason } from '../../task/task/outcome.ts';
import { failureOf, mayFallBack } from '../../task/task/retry-policy.ts';
import { verdictOf } from '../../task/task/verdict.ts';
import { type AuthorsWork, afterFetch, type CallAuthor, type OnPage, transform } from '../around/middleware-calls.ts';
import type { Crawler, Step } from '../crawler.ts';
import { type Extract, readingOf, type TakeOver } from '../document/reading.ts';
import { StepError, stepErrorOf } from '../failures/step-error.ts';
import { Page } from '../page.ts';

/** A page that a crawler has read, and the result. */
interface ReadPage {
  readonly page: Page;
  readonly extract: Extract;
}

/** The outcome of a saved page's task. */
export type SavedOutcome =
  | ({ readonly kind: 'done' } & ReadPage)
  | { readonly kind: 'failed'; readonly reason: FailedReason; readonly detail?: string }
  | { readonly kind: 'skipped'; readonly reason: SkippedReason };

/**
 * Runs a crawler and its middleware on a page that was never fetched: `afterFetch`, the step, `transform`. There is no time limit.
 *
 * @throws StepError
 */
export async function readThroughMiddleware(
  work: AuthorsWork,
  given: Page,
): Promise<{ readonly skip: string } | ReadPage> {
  const on = onPage(work, given);
  const came = await afterFetch(on, given.answer);
  if ('skip' in came) return came;
  const page = came.fetched === given.answer ? given : new Page(given.task, came.fetched);
  return { page, extract: await transform(on, page, await extracted(work, page)) };
}

/**
 * Does the same as a worker does with an answer: also checks its status and media type, and lets a fallback take over from a failed step.
 * Nothing is tried again, since a saved page stays the same.
 *
 * @throws StepError of a step without a fallback
 */
export async function workSaved(work: AuthorsWork, given: Page): Promise<SavedOutcome> {
  const { crawler } = work;
  const on = onPage(work, given);
  const judged = await judge(crawler, given);
  const came = await afterFetch(on, given.answer);
  if ('skip' in came) return { kind: 'skipped', reason: 'middleware' };
  const isOwn = came.fetched === given.answer;
  if (isOwn && judged.kind === 'skipped') return judged;
  const page = isOwn ? given : new Page(given.task, came.fetched);
  let thrown: StepError | undefined;
  let failed = isOwn && judged.kind === 'failed' ? judged : undefined;
  let step = crawler.step(given.task.step);
  let takeOver: TakeOver | undefined;
  for (;;) {
    if (failed === undefined || takeOver !== undefined) {
      try {
        const extract = await extracted(work, page, takeOver);
        return { kind: 'done', page, extract: await transform(on, page, extract) };
      } catch (error: unknown) {
        if (!(error instanceof StepError)) throw error;
        thrown = error;
        failed = { kind: 'failed', reason: error.reason, detail: error.message };
      }
    }
    step = mayFallBack(failed.reason) ? fallbackOf(crawler, step) : undefined;
    if (step === undefined) break;
    takeOver = { step, failure: failureOf(failed, page.status) };
  }
  if (thrown !== undefined) throw thrown;
  return failed;
}

/** Calls an author's function without a time limit. */
export const callUntimed: CallAuthor = async (about, begin, end) => {
  try {
    return end(await begin());
  } catch (error: unknown) {
    throw stepErrorOf(about, error);
  }
};

function onPage(work: AuthorsWork, { task, url }: Page): OnPage {
  return { work, task, url, call: callUntimed };
}

async function extracted(work: AuthorsWork, page: Page, takeOver?: TakeOver): Promise<Extract> {
  const { about, begin, end } = readingOf(work, page, takeOver);
  return await callUntimed(about, begin, end);
}

function fallbackOf(crawler: Crawler, step: Step | undefined): Step | undefined {
  return step?.fallback === undefined ? undefined : crawler.stepNamed(step.fallback);
}

/** Judges an answer before the crawler's steps see it. An answer that a crawl would try again counts as failed. */
async function judge(
  crawler: Crawler,
  { answer, task: { step } }: Pick<Page, 'answer' | 'task'>,
): Promise<{ readonly kind: 'done' } | Exclude<SavedOutcome, { readonly kind: 'done' }>> {
  const { status, headers } = answer;
  const last = { attempts: 0, maxAttempts: 1, throttles: MOST_THROTTLES, answersOthers: true, now: 0, random: 0 };
  const isTaken = crawler.takes(step, status);
  const { outcome } = isTaken ? judgeTaken(answer, last.now) : judgeAnswer(answer, last);
  if (outcome.kind === 'skipped') return outcome;
  const reason = status < 500 ? 'http_4xx' : 'http_5xx';
  if (outcome.kind !== 'done') return { reason, ...outcome, kind: 'failed', detail: `HTTP ${status}` };
  const isWanted = await callUntimed(
    { crawler: crawler.name },
    () => crawler.accepts(headers['content-type']),
    (wanted) => verdictOf(wanted, 'accepts'),
  );
  if (isWanted) return outcome;
  return isTaken ? { reason, kind: 'failed', detail: `HTTP ${status}` } : { kind: 'skipped', reason: 'content_type' };
}
