import type { PageVisit } from '../../../shared/ports/frontier.ts';
import { type KnownPage, readAsOf, type Validators, validatorsIn } from '../../../shared/task/task/known-page.ts';
import { type Ending, redirectsOf, type Visit } from './visit.ts';

/**
 * What to ask with, of a page that an earlier run knows; nothing where its body is wanted, changed or not: when this run
 * reads it for something else, or follows its links. Behind a redirect another page is asked for, which they say nothing of.
 */
export function validatorsFor(visit: Visit): Validators | undefined {
  const { known, run, task } = visit;
  const { options } = run;
  if (known === undefined || known.readAs !== readAsOf(options)) return undefined;
  if (redirectsOf(visit).length > 0) return undefined;
  if (options.follow && task.depth < options.maxDepth) return undefined;
  const { etag, modified } = known;
  if (etag === undefined && modified === undefined) return undefined;
  return { ...(etag === undefined ? {} : { etag }), ...(modified === undefined ? {} : { modified }) };
}

/** What an incremental run remembers of a page; nothing if its visit didn't come to an end, or in any other run. */
export function rememberedOf(visit: Visit, ending: Ending, now: number): PageVisit | undefined {
  const { known, run } = visit;
  const { outcome, askedAt = now, answer, contentHash = '', claimed = known?.claimed } = ending;
  if (!run.options.incremental || (outcome.kind !== 'done' && outcome.kind !== 'skipped')) return undefined;
  const askedMsAgo = now - askedAt;
  if (outcome.kind === 'skipped' && outcome.reason === 'not_modified' && known !== undefined)
    return { ...confirmed(known, answer?.headers), askedMsAgo, bytesSaved: known.bytes };
  const bytes = answer?.body.byteLength ?? 0;
  const kept = claimed === undefined ? {} : { claimed };
  const facts = { contentHash, bytes, readAs: readAsOf(run.options), ...kept, askedMsAgo, bytesSaved: 0 };
  if (outcome.kind === 'skipped' || answer === undefined) return facts;
  // The answer of another URL says nothing of this one.
  const isItsOwn = answer.finalUrl === visit.task.url;
  return isItsOwn ? { ...facts, ...validatorsIn(answer.headers) } : facts;
}

/** A 304 may name the version anew. */
function confirmed({ fetchedAt: _, ...facts }: KnownPage, headers: Readonly<Record<string, string>> = {}) {
  return { ...facts, ...validatorsIn(headers) };
}
