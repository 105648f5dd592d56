import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../durations.ts';

/** Failures of requests that may mean that the host is down, in the plural. */
export type HostFault = 'connection errors' | 'time-outs' | 'failed look-ups' | 'failed handshakes' | 'answers of 5xx';

/** Errors in a row, and what they were: one word for several kinds. */
export interface Faults {
  readonly count: number;
  readonly kind: HostFault | 'errors';
}

/** This many errors in a row open a host's breaker. */
export const FAULTS_TO_OPEN = 5;
export const OPEN_BASE_MS = MINUTE_MS;
export const OPEN_CAP_MS = HOUR_MS;
/** Up to one part in this many is added to how long a breaker is open. */
export const OPEN_SPREAD = 5;

/** Counts one more. */
export function withFault(faults: Faults | undefined, kind: HostFault): Faults {
  if (faults === undefined) return { count: 1, kind };
  return { count: faults.count + 1, kind: faults.kind === kind ? kind : 'errors' };
}

/** `5 connection errors in a row` */
export function faultsText({ count, kind }: Faults): string {
  return `${count} ${kind} in a row`;
}

/**
 * How long a breaker stays open: 60 s, twice as long each time it opens without a page between, at most an hour. Up to a
 * fifth is added, so that hosts that went down together are not tried together: the odd milliseconds of the moment decide.
 *
 * @param times how often it has opened before
 * @param now epoch milliseconds
 */
export function openForMs(times: number, now: number): number {
  const ms = Math.min(OPEN_CAP_MS, OPEN_BASE_MS * 2 ** times);
  return Math.min(OPEN_CAP_MS, ms + Math.floor((ms * (now % SECOND_MS)) / (OPEN_SPREAD * SECOND_MS)));
}

/** How long after its release a silent probe leaves its place to another. */
export const PROBE_RELEASED_MS = MINUTE_MS;
/** The same of one that a worker has begun: longer than any request may take. */
export const PROBE_ADMITTED_MS = 2 * MINUTE_MS;
