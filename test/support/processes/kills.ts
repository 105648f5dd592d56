import { MINUTE_MS } from '../../../shared/task/durations.ts';
import type { TestSite } from '../site.ts';
import type { Trawl } from './trawl.ts';

/**
 * Timeout in ms of a test that kills a process at any point of its work. One that dies after it has leased tasks for release and before
 * the broker has them leaves them to a lease of a minute (PUBLISHING_MS), and the janitor runs every few seconds.
 */
export const AFTER_A_KILL_MS = 3 * MINUTE_MS;

/** Kills in a row of one worker and its replacement. */
const KILLED_IN_A_ROW = 2;

interface Kills {
  readonly site: TestSite;
  /** Killed in turn, each twice; a killed worker is replaced. */
  readonly workers: Trawl[];
  readonly start: () => Promise<Trawl>;
  readonly kills: number;
  /** Pages requested between two kills. */
  readonly every: number;
}

/** Something to do during a crawl. */
export interface OnTheWay {
  /** Whether it is time, given how many pages were requested so far. */
  readonly isDue: (pages: number) => boolean;
  readonly act: () => Promise<void>;
}

/**
 * Does one thing after the other during a crawl, each while no request is answered, so that the workers it hits have pages in hand. Returns
 * a function that returns how many were done.
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
 * Kills workers during a crawl. Returns a function that returns how many were killed. A page that kills six workers in a row is a crash
 * loop and fails. A killed worker's pages go to the others, so its replacement is killed next, not one of those.
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
