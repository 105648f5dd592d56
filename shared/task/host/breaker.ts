import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../durations.ts';

/** Kinds of failure that may mean that the host is down, named in the plural. */
export type HostFault =
  | 'connection errors'
  | 'time-outs'
  | 'failed look-ups'
  | 'failed handshakes'
  | 'answers of 5xx'
  | 'answers of 500';

/** The fault that a page itself may cause, unlike 502 and 503, which are the server's. While the breaker is closed, each page counts once. */
export const PAGE_FAULT: HostFault = 'answers of 500';

/** Errors in a row and their kind; `errors` for a mix of kinds. */
export interface Faults {
  readonly count: number;
  readonly kind: HostFault | 'errors';
}

/** Number of errors in a row that opens a host's breaker. */
export const FAULTS_TO_OPEN = 5;
export const OPEN_BASE_MS = MINUTE_MS;
export const OPEN_CAP_MS = HOUR_MS;
/** Up to one part in this many (a fifth) is added to the time that a breaker stays open. */
export const OPEN_SPREAD = 5;

/** Maximum hosts with an open breaker that may be tried again when a run opens while no other is open. Those that would be paused longest go first. */
export const MOST_HOSTS_TRIED = 1_000;

/** Adds one error to those counted so far. */
export function withFault(faults: Faults | undefined, kind: HostFault): Faults {
  if (faults === undefined) return { count: 1, kind };
  return { count: faults.count + 1, kind: faults.kind === kind ? kind : 'errors' };
}

/** Describes errors: `5 connection errors in a row`. */
export function faultsText({ count, kind }: Faults): string {
  return `${count} ${kind} in a row`;
}

/**
 * Returns how long a breaker stays open: 60 s, doubled each time it opens again without a page in between, at most an hour. Up to a
 * fifth is added, taken from the milliseconds of `now`, so that hosts that went down together are not tried together.
 *
 * @param times how many times it has opened before
 * @param now epoch milliseconds
 */
export function openForMs(times: number, now: number): number {
  const ms = Math.min(OPEN_CAP_MS, OPEN_BASE_MS * 2 ** times);
  return Math.min(OPEN_CAP_MS, spreadMs(ms, now));
}

/** Lengthens a duration by up to a fifth, taken from the milliseconds of `now`. */
export function spreadMs(ms: number, now: number): number {
  return ms + Math.floor((ms * (now % SECOND_MS)) / (OPEN_SPREAD * SECOND_MS));
}

/** Time after its release until a probe without a result is replaced by another. */
export const PROBE_RELEASED_MS = MINUTE_MS;
/** The same from when a worker begins the probe: longer than any request may take. */
export const PROBE_ADMITTED_MS = 2 * MINUTE_MS;
