import { join } from 'node:path';
import { Redis } from 'ioredis';
import { Figures } from './figures.ts';
import { type Measured, runMeasured, TRAWL } from './measured-process.ts';
import { HOSTS, pageUrl } from './origin.ts';
import { type Bench, clear, fetchTimes, trawl } from './rows.ts';

const PAGES_PER_HOST = 20;
/** What all hosts together allow, at 60/min each. */
export const ALLOWED_PER_SECOND = HOSTS;
/** Settings as they come, but that the hosts stand on this machine. */
const LOCAL = ['--private-hosts', '127.0.0.0/8'];
const FAST_PER_MINUTE = 6_000;
const FAST_PAGES = 1_500;

/** Pages a second of a thousand hosts, settings as they come: in one process, or by so many workers. */
export async function broad(bench: Bench, workers: 'embedded' | number): Promise<Figures> {
  const urls: string[] = [];
  for (let n = 0; n < PAGES_PER_HOST; n++) for (const host of bench.hosts) urls.push(pageUrl(host, 'broad', n));
  const speeds: number[] = [];
  for (let round = 1; round <= bench.rounds; round++) {
    const run = `broad-${workers}-${round}`;
    await crawl(bench, run, workers, urls, LOCAL);
    const times = await fetchTimes(join(bench.folder, 'output', run));
    if (times.length !== urls.length) throw new Error(`expected ${urls.length} records, got ${times.length}`);
    // Between the first tenth, in which the seeds are read and V8 compiles, and the last, in which some hosts have ended.
    const steady = times.slice(times.length / 10, (9 * times.length) / 10);
    speeds.push((1_000 * (steady.length - 1)) / ((steady.at(-1) ?? 0) - (steady[0] ?? 0)));
  }
  return new Figures(speeds);
}

/** How much of 6 000 requests a minute one worker makes of one host, in percent, and the scripts that a page takes. */
export async function fastHost(bench: Bench): Promise<{ readonly percent: Figures; readonly scripts: Figures }> {
  const urls = Array.from({ length: FAST_PAGES }, (_, n) => pageUrl(bench.origin, 'fast', n));
  const [percents, scripts]: [number[], number[]] = [[], []];
  for (let round = 1; round <= bench.rounds; round++) {
    const run = `fast-${round}`;
    await crawl(bench, run, 1, urls, [...LOCAL, '--rate', `${FAST_PER_MINUTE}/min`]);
    const times = await fetchTimes(join(bench.folder, 'output', run));
    const minutes = ((times.at(-1) ?? 0) - (times[0] ?? 0)) / 60_000;
    percents.push((100 * (times.length - 1)) / minutes / FAST_PER_MINUTE);
    scripts.push((await scriptsOf(bench.redisUrl)) / FAST_PAGES);
  }
  return { percent: new Figures(percents), scripts: new Figures(scripts) };
}

/** Workers first: what is released before any is there doesn't wait for its host's pace. */
async function crawl(
  bench: Bench,
  run: string,
  workers: 'embedded' | number,
  urls: readonly string[],
  flags: readonly string[],
): Promise<void> {
  const input = urls.join('\n');
  if (workers === 'embedded') {
    await runMeasured(TRAWL, ['crawl', '-', '--run', run, '--json', ...flags], { folder: bench.folder, input });
    return;
  }
  await clear(bench);
  await resetCount(bench.redisUrl);
  const working = Array.from(
    { length: workers },
    (): Promise<Measured> => trawl(bench, ['work', '--exit-when-idle', '--log-format', 'json', ...flags]),
  );
  await untilConsuming(bench.redisUrl, workers);
  await trawl(bench, ['produce', '-', '--run', run, '--json', ...flags], {}, input);
  await Promise.all(working);
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
