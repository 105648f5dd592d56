/** What went wrong with a request so that its host may be out of order, in the plural. */
export type HostFault = 'connection errors' | 'time-outs' | 'failed look-ups' | 'failed handshakes' | 'answers of 5xx';

/** Errors in a row, and what they were: one word for several kinds. */
export interface Faults {
  readonly count: number;
  readonly kind: HostFault | 'errors';
}

/** So many errors in a row open a host's breaker. */
export const FAULTS_TO_OPEN = 5;
const OPEN_BASE_MS = 60_000;
const OPEN_CAP_MS = 3_600_000;

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
  return Math.min(OPEN_CAP_MS, ms + Math.floor((ms * (now % 1_000)) / 5_000));
}

/** A probe that was released and not heard of leaves its place to another after so long. */
export const PROBE_RELEASED_MS = 60_000;
/** The same of one that a worker has begun: longer than any request may take. */
export const PROBE_ADMITTED_MS = 120_000;
