import type { LiveWorker, WorkerBound } from '../../ports/roster.ts';
import type { HostLine } from '../../ports/run-overview.ts';
import { SECOND_MS } from '../../task/durations.ts';

/** Assumed pages per second of one worker, until one has shown its speed. */
const EXPECTED_PAGES_PER_SECOND = 20;
/** Assumed response time of a host that has no rate and has never answered. */
const EXPECTED_RESPONSE_MS = SECOND_MS;
/** Minimum share of busy time. Below it, the share reflects a worker's timers more than its pages. */
const LEAST_BUSY_SHARE = 0.05;
const LEAST_PAGES_PER_SECOND = 1;
/** A worker that waits for these does fewer pages than it could. */
const TELLS_NO_PACE: ReadonlySet<WorkerBound> = new Set(['network', 'proxies', 'sink']);

type HostPace = Pick<HostLine, 'intervalMs' | 'pausedMs' | 'responseMs'>;
type WorkerPace = Pick<LiveWorker, 'bound' | 'progress'>;

/** Hosts with waiting tasks that were not read one by one. */
export interface UnreadHosts {
  readonly hosts: number;
  /** The rate of their run. They count as hosts that are neither paused nor slowed. */
  readonly intervalMs: number;
}

interface Demand {
  /** Hosts with waiting tasks, of all running runs. A host that several runs have can come several times. */
  readonly hosts: Iterable<HostPace & Pick<HostLine, 'host'>>;
  readonly unread: readonly UnreadHosts[];
  readonly workers: readonly WorkerPace[];
  /** `HOST_CONCURRENCY`; 0 for no limit. */
  readonly hostConcurrency: number;
}

/**
 * Returns the number of workers that the waiting hosts can keep busy: the pages per second that the hosts allow, divided by those that one
 * worker does when no host holds it back. 0 if nothing waits.
 */
export function workersWanted({ hosts, unread, workers, hostConcurrency }: Demand): number {
  const perWorker = pagesPerSecondOfOne(workers);
  const allowed = new Map<string, number>();
  const pagesOf = (pace: HostPace): number => pagesPerSecondOf(pace, { hostConcurrency, perWorker });
  for (const line of hosts) {
    const pages = pagesOf(line);
    // A host is asked at the slowest rate of the runs that have it.
    allowed.set(line.host, Math.min(pages, allowed.get(line.host) ?? Number.POSITIVE_INFINITY));
  }
  let sum = 0;
  for (const pages of allowed.values()) sum += pages;
  for (const { hosts: count, intervalMs } of unread) sum += count * pagesOf({ intervalMs, pausedMs: 0 });
  // Rounded first: 60 hosts at a page a second each must sum to 60, not to slightly more.
  return Math.ceil(Number((sum / perWorker).toFixed(6)));
}

/**
 * Returns the pages per second that a host allows.
 *
 * | the host                          | allows                                        |
 * |-----------------------------------|-----------------------------------------------|
 * | is paused                         | none                                          |
 * | has a rate, or was slowed         | one per interval                              |
 * | has no rate                       | `HOST_CONCURRENCY` at once, by its recent response times |
 * | has no rate and no limit at once  | as many as one worker does                    |
 */
function pagesPerSecondOf(
  { intervalMs, pausedMs, responseMs = EXPECTED_RESPONSE_MS }: HostPace,
  { hostConcurrency, perWorker }: { readonly hostConcurrency: number; readonly perWorker: number },
): number {
  if (pausedMs > 0) return 0;
  if (intervalMs > 0) return SECOND_MS / intervalMs;
  if (hostConcurrency === 0) return perWorker;
  return (hostConcurrency * SECOND_MS) / Math.max(1, responseMs);
}

/**
 * Returns the pages per second that one worker does when no host holds it back: the mean over the workers that have shown it. The speed of
 * a worker that hosts hold back is extrapolated by its share of busy time.
 */
export function pagesPerSecondOfOne(workers: readonly WorkerPace[]): number {
  const shown = workers.flatMap(({ bound, progress }) => {
    const { pagesPerSecond = 0, busyShare = 0 } = progress ?? {};
    if (TELLS_NO_PACE.has(bound) || pagesPerSecond < LEAST_PAGES_PER_SECOND) return [];
    if (bound !== 'politeness') return [pagesPerSecond];
    return busyShare < LEAST_BUSY_SHARE ? [] : [pagesPerSecond / Math.min(1, busyShare)];
  });
  if (shown.length === 0) return EXPECTED_PAGES_PER_SECOND;
  return shown.reduce((sum, pages) => sum + pages, 0) / shown.length;
}
