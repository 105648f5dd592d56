import { MINUTE_MS } from '../../../shared/task/durations.ts';
import type { TestSite } from '../site.ts';
import type { Trawl } from './trawl.ts';

/**
 * For a test that kills a process anywhere in its work, in ms. One that dies after it has leased tasks for release and before
 * the broker has them leaves them to a lease of a minute (PUBLISHING_MS), and the janitor looks every few seconds.
 */
export const AFTER_A_KILL_MS = 3 * MINUTE_MS;

/** Kills of one worker, and of the one in its place. */
const KILLED_IN_A_ROW = 2;

interface Kills {
  readonly site: TestSite;
  /** In turn, each twice; one that is killed is replaced. */
  readonly workers: Trawl[];
  readonly start: () => Promise<Trawl>;
  readonly kills: number;
  /** Pages between two kills. */
  readonly every: number;
}

/** Something to be done on the way of a crawl. */
export interface OnTheWay {
  /** Is it time? By how many pages were asked for so far. */
  readonly isDue: (pages: number) => boolean;
  readonly act: () => Promise<void>;
}

/**
 * Does one thing after the other on the way of a crawl, while nothing is answered: whoever is hit by it has pages in hand. Returns
 * what tells how many were done.
 */
export function onTheWay(site: TestSite, all: readonly OnTheWay[]): () => number {
  let done = 0;
  site.holdBefore(async () => {
    const next = all[done];
    if (next?.isDue(new Set(site.requests.map(({ path }) => path)).size) !== true) return;
    done++;
    await next.act();
  });
  return () => done;
}

/**
 * Kills workers on the way of a crawl. Returns what tells how many were killed. A page that six workers in a row die with is a crash
 * loop, and fails: what one has left goes to the others, so it is the one in its place that is killed next.
 */
export function killOnTheWay({ site, workers, start, kills, every }: Kills): () => number {
  const kill = async (at: number): Promise<void> => {
    workers[at]?.signal('SIGKILL');
    workers[at] = await start();
  };
  return onTheWay(
    site,
    Array.from({ length: kills }, (_, n) => ({
      isDue: (pages) => pages >= (n + 1) * every,
      act: () => kill(Math.floor(n / KILLED_IN_A_ROW) % workers.length),
    })),
  );
}
