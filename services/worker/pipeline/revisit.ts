import type { PageVisit } from '../../../shared/ports/frontier/frontier.ts';
import { isMember, planFor } from '../../../shared/task/group/plan.ts';
import { type KnownPage, readAsOf, type Validators, validatorsIn } from '../../../shared/task/task/known-page.ts';
import { type Ending, redirectsOf, type Visit } from './visit.ts';

/**
 * Returns validators for a conditional request, if an earlier run knows the page. Returns nothing if the body is needed even when
 * unchanged, because this run reads pages differently or follows this page's links. Also returns nothing after a redirect, since validators
 * belong to the task's own URL.
 */
export function validatorsFor(visit: Visit): Validators | undefined {
  const { known, run, task } = visit;
  const { options } = run;
  if (task.request !== undefined) return undefined;
  // If an unchanged product page were skipped, a changed price on another page of its group would be missed.
  if (planFor(options.joins, task) !== undefined) return undefined;
  if (known === undefined || known.readAs !== readAsOf(options)) return undefined;
  if (redirectsOf(visit).length > 0) return undefined;
  if (options.follow && task.depth < options.maxDepth) return undefined;
  const { etag, modified } = known;
  if (etag === undefined && modified === undefined) return undefined;
  return { ...(etag === undefined ? {} : { etag }), ...(modified === undefined ? {} : { modified }) };
}

/** Returns the facts that an incremental run remembers of a page. Returns nothing if the task was neither done nor skipped, or in any other run. */
export function rememberedOf(visit: Visit, ending: Ending, now: number): PageVisit | undefined {
  const { known, run } = visit;
  const { outcome, askedAt = now, answer, contentHash = '', claimed = known?.claimed } = ending;
  // Marks of members belong to a single run, and joins have no page.
  if (isMember(visit.task)) return undefined;
  if (!run.options.incremental || (outcome.kind !== 'done' && outcome.kind !== 'skipped')) return undefined;
  const askedMsAgo = now - askedAt;
  if (outcome.kind === 'skipped' && outcome.reason === 'not_modified' && known !== undefined)
    return { ...confirmed(known, answer?.headers), askedMsAgo, bytesSaved: known.bytes };
  const bytes = answer?.body.byteLength ?? 0;
  const kept = claimed === undefined ? {} : { claimed };
  const facts = { contentHash, bytes, readAs: readAsOf(run.options), ...kept, askedMsAgo, bytesSaved: 0 };
  if (outcome.kind === 'skipped' || answer === undefined) return facts;
  // Validators of another URL's answer are not valid for this one.
  const isItsOwn = answer.finalUrl === visit.task.url;
  // The pages it leads to are found in its body, so a 304 would end the list there.
  return isItsOwn && ending.leadsOn !== true ? { ...facts, ...validatorsIn(answer.headers) } : facts;
}

/** Returns the known facts after a 304, which can carry new validators. */
function confirmed({ fetchedAt: _, ...facts }: KnownPage, headers: Readonly<Record<string, string>> = {}) {
  return { ...facts, ...validatorsIn(headers) };
}
