import type { RequestTimings } from '../ports/fetcher.ts';
import { type HostLimit, type RequestEnd, slotToleranceMs } from '../ports/host-gate.ts';

/** A request that was made in its host's turn. */
interface MadeRequest {
  /** When its turn came, as `performance.now()` shows it. */
  readonly began: number;
  readonly timings: RequestTimings;
  readonly limit: HostLimit;
  readonly isFailure?: boolean;
  /** When its answer began, if the rest says nothing of the host's pace. */
  readonly answeredAt?: number | undefined;
}

/**
 * What the gate is told of a request that is over. How long it waited for this process doesn't count as the host's time. One that
 * first had to connect was sent after its turn, while the next one uses that connection: so they would follow each other too closely.
 */
export function requestEnd({ began, timings, limit, isFailure = false, answeredAt }: MadeRequest): RequestEnd {
  const now = performance.now();
  const { waitedMs, connectedAt = began } = timings;
  const isLate = limit.intervalMs > 0 && connectedAt - began > slotToleranceMs(limit.intervalMs);
  return {
    durationMs: (answeredAt ?? now) - waitedMs - began,
    isFailure,
    ...(isLate ? { sentAgoMs: now - connectedAt } : {}),
  };
}
