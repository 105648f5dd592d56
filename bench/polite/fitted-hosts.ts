import type { Speed } from '../rows.ts';

/** The speed of a bare loop on the machine that the bounds were set for. */
const BARE_PAGES_PER_SECOND = 4_850;

/**
 * Fits the number of a row's hosts to a machine slower than the one that the bounds were set for: the pace that the hosts allow is always
 * the same fraction of what a bare loop can do. Otherwise such a row would measure nothing but the machine's CPU.
 */
export function fittedHosts(bare: Speed): (hosts: number) => number {
  const share = Math.min(1, bare.pagesPerSecond.median / BARE_PAGES_PER_SECOND);
  return (hosts) => Math.max(100, Math.round((hosts * share) / 100) * 100);
}
