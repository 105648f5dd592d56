import type { Extract } from '../../../shared/crawler/document/reading.ts';
import { Page } from '../../../shared/crawler/page.ts';
import type { Outcome } from '../../../shared/task/task/outcome.ts';
import { seen, storable, transformed } from '../../worker/pipeline/around-fetch.ts';
import { OwnReader } from '../../worker/pipeline/own-reader.ts';
import type { Steps } from '../../worker/pipeline/steps.ts';
import { doneRecord, type Ending, type Visit } from '../../worker/pipeline/visit.ts';

/** Why there is no page, or why it was not read. */
export interface Failure {
  readonly outcome: Outcome['kind'];
  readonly reason: string;
  readonly error: string;
}

/**
 * Runs a crawler and its middleware on a page, as a crawl does. Nothing is stored.
 *
 * @throws StepError
 */
export async function readAround(
  visit: Visit,
  given: Page,
  steps: Steps,
): Promise<{ readonly page: Page; readonly extract: Extract } | Failure> {
  const came = await seen(visit, { arrival: { fetched: given.answer, fromCache: false } }, steps);
  if ('ending' in came) return failureIn(came.ending);
  const { arrival } = came;
  const page = arrival.fetched === given.answer ? given : new Page(given.task, arrival.fetched);
  const read = await steps.extract(visit.run, page);
  const own = await new OwnReader(steps).readRecorded(visit, page);
  const extract = await transformed(visit, page, read, steps);
  const made = doneRecord(visit, arrival, own, extract, 0);
  const kept = await storable(visit, made, steps);
  if ('ending' in kept) return failureIn(kept.ending);
  return { page, extract: kept.record.data === made.data ? extract : { ...extract, data: kept.record.data } };
}

/** Describes an ending without a page. */
export function failureIn({ outcome, status }: Ending): Failure {
  const { detail } = { detail: undefined, ...outcome };
  const { reason = 'wait' } = { reason: undefined, ...outcome };
  const goesOn = outcome.kind === 'retry' || outcome.kind === 'defer' ? '; a crawl would ask again later' : '';
  const said = detail ?? (status === undefined ? 'no answer' : `HTTP ${status}`);
  return { outcome: outcome.kind, reason, error: `${said}${goesOn}` };
}
