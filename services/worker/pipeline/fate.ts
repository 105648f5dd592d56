import type { RequestTimings } from '../../../shared/ports/fetcher.ts';
import type { Judgement } from '../../../shared/task/task/judgement.ts';
import type { SentRequest } from '../../../shared/task/task/request.ts';
import type { Ending, Visit } from './visit.ts';

/*
 * A request that may not be repeated, such as a POST, is never knowingly sent twice. If it was possibly sent and its answer is lost, its
 * task fails as `unknown_fate`.
 */

const WHY = 'it may have been carried out, so it is not sent again (idempotent: true would allow it)';

/**
 * Returns the ending of a visit whose request an earlier delivery may have sent, or nothing if it may be sent now.
 *
 * @param sent the request, which a middleware may have changed
 */
export function fateBefore(visit: Visit, sent: SentRequest | undefined): Ending | undefined {
  if (sent === undefined || sent.mayRepeat) return undefined;
  const { release, state, task } = visit;
  const before =
    release === 0
      ? 'the store has lost its record of'
      : state.starts > 1
        ? 'a worker died over'
        : task.request?.isSent === true
          ? 'nothing could be stored after'
          : undefined;
  return before === undefined ? undefined : ended(`${before} this ${sent.method}: ${WHY}`);
}

/** Judges a request without an answer that was possibly sent. */
export function fateAfter(sent: SentRequest | undefined, judged: Judgement, { isSent }: RequestTimings): Judgement {
  const { outcome } = judged;
  if (sent === undefined || sent.mayRepeat || !isSent || outcome.kind === 'skipped') return judged;
  const detail = 'detail' in outcome && outcome.detail !== undefined ? outcome.detail : 'no answer';
  return { ...judged, outcome: ended(`${detail}, to a ${sent.method}: ${WHY}`).outcome };
}

/** Returns whether a task ended because the fate of its request is unknown. */
export function isUnknownFate({ outcome }: Ending): boolean {
  return outcome.kind === 'failed' && outcome.reason === 'unknown_fate';
}

/** Returns the visit in the form in which its task is put back after its answer: no other visit may send its request again. */
export function spent(visit: Visit): Visit {
  const { task, moved = task, isSpent } = visit;
  const { request } = moved;
  if (isSpent !== true) return visit;
  // It was a plain GET until a middleware changed it.
  const asked = request ?? { method: 'GET' as const };
  return { ...visit, moved: { ...moved, request: { ...asked, isSent: true } } };
}

function ended(detail: string): Ending {
  return { outcome: { kind: 'failed', reason: 'unknown_fate', detail } };
}
