import type { Speed } from '../rows.ts';

/** What a bare loop does on the machine that the bounds were set for. */
const BARE_PAGES_PER_SECOND = 4_850;

/**
 * Fits the number of a row's hosts to the machine: what they allow is the same part of what a bare loop can do on any machine, a
 * slower one than the bounds were set for. Otherwise such a row would measure nothing but its CPU.
 */
export function fittedHosts(bare: Speed): (hosts: number) => number {
  const share = Math.min(1, bare.pagesPerSecond.median / BARE_PAGES_PER_SECOND);
  return (hosts) => Math.max(100, Math.round((hosts * share) / 100) * 100);
}
