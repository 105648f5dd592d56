import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { onTestFinished } from 'vitest';

/** Which of the hostile pages are served: the first ones of a seed. */
export interface HostileSites {
  readonly seed: number;
  readonly count: number;
}

/**
 * Serves each page on a host of its own, since several errors of one would open its breaker, until the test ends. They are made in
 * a thread: that takes seconds of CPU time, in which other servers of the test would answer nobody.
 *
 * @returns the pages' URLs
 */
export async function openHostileSites(sites: HostileSites): Promise<string[]> {
  const thread = new Worker(new URL('./sites-thread.ts', import.meta.url), { workerData: sites });
  onTestFinished(async () => void (await thread.terminate()));
  const [urls] = (await once(thread, 'message')) as [string[]];
  return urls;
}
