import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { onTestFinished } from 'vitest';

/** The hostile pages to serve: the first `count` ones of a seed. */
export interface HostileSites {
  readonly seed: number;
  readonly count: number;
}

/**
 * Serves each page on its own host until the test ends, as several errors of one host would open its breaker. They are made in
 * a thread, as that takes seconds of CPU time in which other servers of the test would not answer.
 *
 * @returns the pages' URLs
 */
export async function openHostileSites(sites: HostileSites): Promise<string[]> {
  const thread = new Worker(new URL('./sites-thread.ts', import.meta.url), { workerData: sites });
  onTestFinished(async () => void (await thread.terminate()));
  const [urls] = (await once(thread, 'message')) as [string[]];
  return urls;
}
