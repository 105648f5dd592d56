import type { RequestTimings } from '../../../shared/ports/fetcher.ts';
import type { Judgement } from '../../../shared/task/task/judgement.ts';
import { type Ending, sentBy, type Visit } from './visit.ts';

/*
 * A request that may not be repeated, a POST say, is sent at most once as far as anybody can know. When it may have been sent,
 * and its answer can't be had any more, its task fails as `unknown_fate`.
 */

const WHY = 'it may have been carried out, so it is not sent again (idempotent: true would allow it)';

/** The ending of a visit whose request an earlier delivery may have sent; nothing if it may be sent. */
export function fateBefore(visit: Visit): Ending | undefined {
  const sent = sentBy(visit);
  if (sent === undefined || sent.mayRepeat) return undefined;
  const { release, state, task } = visit;
  const before =
    release === 0
      ? 'the store has lost what it knew of'
      : state.starts > 1
        ? 'a worker died over'
        : task.request?.isSent === true
          ? 'nothing could be stored after'
          : undefined;
  return before === undefined ? undefined : ended(`${before} this ${sent.method}: ${WHY}`);
}

/** What a request without an answer means, if it may have been sent all the same. */
export function fateAfter(visit: Visit, judged: Judgement, { isSent }: RequestTimings): Judgement {
  const sent = sentBy(visit);
  const { outcome } = judged;
  if (sent === undefined || sent.mayRepeat || !isSent || outcome.kind === 'skipped') return judged;
  const detail = 'detail' in outcome && outcome.detail !== undefined ? outcome.detail : 'no answer';
  return { ...judged, outcome: ended(`${detail}, to a ${sent.method}: ${WHY}`).outcome };
}

/** Did a task end since nobody knows what became of its request? */
export function isUnknownFate({ outcome }: Ending): boolean {
  return outcome.kind === 'failed' && outcome.reason === 'unknown_fate';
}

/** The visit as its task is put back after its answer: no other visit may send its request again. */
export function spent(visit: Visit): Visit {
  const { task, moved = task, isSpent } = visit;
  const { request } = moved;
  if (isSpent !== true || request === undefined) return visit;
  return { ...visit, moved: { ...moved, request: { ...request, isSent: true } } };
}

function ended(detail: string): Ending {
  return { outcome: { kind: 'failed', reason: 'unknown_fate', detail } };
}
