import { join } from 'node:path';
import { Redis } from 'ioredis';
import { Figures } from './figures.ts';
import { type Measured, runMeasured, TRAWL } from './measured-process.ts';
import { pageUrl } from './origin.ts';
import { type Bench, clear, fetchTimes, trawl } from './rows.ts';

/** Default settings, except that the hosts are on this machine. */
export const LOCAL = ['--private-hosts', '127.0.0.0/8'];
const FAST_PER_MINUTE = 6_000;
const FAST_PAGES = 1_500;

/** Measures how many of 6 000 requests a minute to one host one worker makes, in percent, and the scripts per page. */
export async function fastHost(bench: Bench): Promise<{ readonly percent: Figures; readonly scripts: Figures }> {
  const urls = Array.from({ length: FAST_PAGES }, (_, n) => pageUrl(bench.origin, 'fast', n));
  const [percents, scripts]: [number[], number[]] = [[], []];
  for (let round = 1; round <= bench.rounds; round++) {
    const run = `fast-${round}`;
    await crawlMany(bench, run, 1, urls, ['--rate', `${FAST_PER_MINUTE}/min`], FAST_PAGES);
    const times = await fetchTimes(join(bench.folder, 'output', run));
    const minutes = ((times.at(-1) ?? 0) - (times[0] ?? 0)) / 60_000;
    percents.push((100 * (times.length - 1)) / minutes / FAST_PER_MINUTE);
    scripts.push((await scriptsOf(bench.redisUrl)) / FAST_PAGES);
  }
  return { percent: new Figures(percents), scripts: new Figures(scripts) };
}

interface Crawled {
  readonly processes: readonly Measured[];
  /** A `performance.now()` time. */
  readonly endedAt: number;
}

/**
 * Crawls a list in one process, or with this many workers. Workers start first, since tasks released before there is a worker don't
 * wait for their host's pace.
 *
 * @param expected number of pages; with fewer it throws, as figures of a bench that lost some would mean nothing
 */
export async function crawlMany(
  bench: Bench,
  run: string,
  workers: 'embedded' | number,
  urls: readonly string[],
  more: readonly string[],
  expected: number,
): Promise<Crawled> {
  const input = urls.join('\n');
  const flags = [...LOCAL, ...more];
  const processes: Measured[] = [];
  if (workers === 'embedded') {
    processes.push(
      await runMeasured(TRAWL, ['crawl', '-', '--run', run, '--json', ...flags], {
        folder: bench.folder,
        env: bench.env ?? {},
        input,
      }),
    );
  } else {
    await clear(bench);
    await resetCount(bench.redisUrl);
    const working = Array.from({ length: workers }, () =>
      trawl(bench, ['work', '--exit-when-idle', '--log-format', 'json', ...flags]),
    );
    await untilConsuming(bench.redisUrl, workers);
    await trawl(bench, ['produce', '-', '--run', run, '--json', ...flags], {}, input);
    processes.push(...(await Promise.all(working)));
  }
  const endedAt = performance.now();
  const { length } = await fetchTimes(join(bench.folder, 'output', run));
  if (length < expected) throw new Error(`expected ${expected} records of ${run}, got ${length}`);
  return { processes, endedAt };
}

async function untilConsuming(redisUrl: string, workers: number): Promise<void> {
  const redis = new Redis(redisUrl);
  while ((await redis.hlen('workers')) < workers) await new Promise((resolve) => setTimeout(resolve, 50));
  redis.disconnect();
}

async function scriptsOf(redisUrl: string): Promise<number> {
  const redis = new Redis(redisUrl);
  const calls = /^cmdstat_evalsha:calls=(\d+)/m.exec(await redis.info('commandstats'))?.[1];
  redis.disconnect();
  return Number(calls);
}

async function resetCount(redisUrl: string): Promise<void> {
  const redis = new Redis(redisUrl);
  await redis.config('RESETSTAT');
  redis.disconnect();
}
