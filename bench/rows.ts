import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connect } from 'amqplib';
import { Redis } from 'ioredis';
import { connectStores } from '../shared/backends/backends.ts';
import { MAX_OFFER, type Offer } from '../shared/ports/frontier/frontier.ts';
import { silentLog } from '../shared/runtime/logger.ts';
import { settingsFrom } from '../shared/settings/settings.ts';
import { FAST_RUN } from '../test/support/builders.ts';
import { AT_FULL_SPEED } from '../test/support/full-speed.ts';
import { Figures } from './figures.ts';
import { type Measured, runMeasured, TRAWL } from './measured-process.ts';
import { pageUrl, writeSitemaps } from './origin.ts';

/** The surroundings of a bench: a folder, a web server, a RabbitMQ and a Redis that nothing else uses. */
export interface Bench {
  readonly folder: string;
  readonly origin: string;
  readonly rabbitmqUrl: string;
  readonly redisUrl: string;
  readonly rounds: number;
  /** Additional environment variables for processes that crawl. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Requests at once in the bare loop and in peers. */
export const CONCURRENCY = 32;
/** Pages of a round: enough that the first second, in which V8 compiles, hardly counts. */
const PAGES = 30_000;

export interface Speed {
  readonly pagesPerSecond: Figures;
  /** CPU time of the process, start-up included. */
  readonly cpuUsPerPage: Figures;
  /** Memory of the largest process. */
  readonly rssMb: Figures;
}

export async function bareLoop({ folder, origin, rounds }: Bench): Promise<Speed> {
  const args = [`${origin}/page/bare-`, String(PAGES), String(CONCURRENCY)];
  return await speedOf(rounds, async () => {
    const measured = await runMeasured(join(import.meta.dirname, 'bare-got.ts'), args, { folder });
    return { pages: PAGES, seconds: JSON.parse(measured.stdout).seconds, processes: [measured] };
  });
}

/** Which fetcher a row is measured with. */
export type Lane = 'got' | 'undici';

export async function embeddedCrawl(
  { folder, origin, rounds }: Bench,
  lane: Lane = 'got',
  more: readonly string[] = [],
): Promise<Speed> {
  const sitemap = await writeSitemaps(folder, origin, 'embedded', PAGES);
  const line = ['crawl', origin + sitemap, '--json', '--fetcher', lane, ...AT_FULL_SPEED, ...more];
  return await speedOf(rounds, async () => {
    const measured = await runMeasured(TRAWL, line, { folder });
    const { done, seconds } = JSON.parse(measured.stdout);
    if (done !== PAGES) throw new Error(`expected ${PAGES} pages, got ${done}`);
    return { pages: done, seconds, processes: [measured] };
  });
}

/** Measures pages per second from the first page to the last, with this many worker processes on an already full frontier. */
export async function fleet(bench: Bench, workers: number, lane: Lane = 'got'): Promise<Speed> {
  const sitemap = await writeSitemaps(bench.folder, bench.origin, `fleet${workers}`, PAGES);
  let round = 0;
  return await speedOf(bench.rounds, async () => {
    const run = `fleet-${lane}-${workers}-${++round}`;
    const processes = await crawlByFleet(bench, run, sitemap, workers, { FETCHER: lane });
    const times = await fetchTimes(join(bench.folder, 'output', run));
    if (times.length !== PAGES) throw new Error(`expected ${PAGES} records, got ${times.length}`);
    const seconds = ((times.at(-1) ?? 0) - (times[0] ?? 0)) / 1_000;
    return { pages: PAGES, seconds, processes };
  });
}

/** Counts Redis commands and deliveries per page, everything included. */
export async function roundTrips(bench: Bench): Promise<{ readonly commands: number; readonly deliveries: number }> {
  const pages = 5_000;
  const sitemap = await writeSitemaps(bench.folder, bench.origin, 'trips', pages);
  const [worker] = await crawlByFleet(bench, 'trips', sitemap, 1, { BENCH_COUNT: '1' });
  const commands = Object.values(worker?.usage.commands ?? {}).reduce((sum, count) => sum + count, 0);
  const redis = new Redis(bench.redisUrl);
  const releases = Number(await redis.hget('run:trips', 'released'));
  redis.disconnect();
  return { commands: commands / pages, deliveries: releases / pages };
}

export interface ProducerFigures {
  readonly urlsPerSecond: Figures;
  readonly maxRssMb: Figures;
}

/** Measures the speed from sitemap bytes to offered URLs, from the opening of the run to the end of the process. */
export async function producer(bench: Bench, urls: number, rounds: number): Promise<ProducerFigures> {
  const sitemap = await writeSitemaps(bench.folder, bench.origin, `produce${urls}`, urls);
  const redis = new Redis(bench.redisUrl);
  const [speeds, sizes]: [number[], number[]] = [[], []];
  for (let round = 1; round <= rounds; round++) {
    await redis.flushall();
    const run = `produce-${urls}-${round}`;
    const { stdout, usage } = await trawl(bench, [
      'produce',
      bench.origin + sitemap,
      '--run',
      run,
      '--json',
      ...AT_FULL_SPEED,
    ]);
    if (JSON.parse(stdout).discovered !== urls) throw new Error(`expected ${urls} URLs: ${stdout}`);
    const startedAt = Number(await redis.hget(`run:${run}`, 'started_at'));
    speeds.push(urls / ((usage.endedAt - startedAt) / 1_000));
    sizes.push(usage.maxRssMb);
  }
  await redis.flushall();
  redis.disconnect();
  return { urlsPerSecond: new Figures(speeds), maxRssMb: new Figures(sizes) };
}

/** Measures the bytes that Redis needs for a URL of 80 characters: once it is known, and additionally while it waits. */
export async function memory(
  { redisUrl }: Bench,
  dedup: 'exact' | 'compact' = 'exact',
): Promise<{ readonly known: number; readonly waiting: number }> {
  const [hosts, perHost] = [10_000, 10];
  const redis = new Redis(redisUrl);
  await redis.flushall();
  const before = await usedMemory(redis);
  const settings = settingsFrom({ flag: { REDIS_URL: redisUrl, DEDUP: dedup }, environment: {}, file: {} });
  const stores = await connectStores({ settings, log: silentLog, name: 'trawl bench' });
  const options = { ...FAST_RUN, dedup: 'ever', intervalMs: 1_000 } as const;
  await stores.runs.open('memory', options, 'bench');
  for (let host = 0; host < hosts; host += 50) {
    const offers = Array.from({ length: 50 * perHost }, (_, i) => offerOf(host + Math.floor(i / perHost), i % perHost));
    await stores.frontier.offer('memory', offers);
  }
  stores.close();
  const urls = hosts * perHost;
  const marks = await redis.keys('crawled_urls*');
  const sizes = await Promise.all(marks.map((key) => redis.memory('USAGE', key, 'SAMPLES', 0)));
  const known = sizes.reduce<number>((sum, size) => sum + Number(size), 0);
  const all = (await usedMemory(redis)) - before;
  await redis.flushall();
  redis.disconnect();
  return { known: known / urls, waiting: (all - known) / urls };
}

/**
 * Measures the longest time that one script blocks Redis, in milliseconds, while a million URLs are offered, some of them released, and
 * the rest cancelled and drained. The time includes pauses of the machine: a virtual one can stall for longer than any script
 * takes, so one round says little.
 */
export async function longestScript(bench: Bench): Promise<Figures> {
  const values: number[] = [];
  for (let round = 1; round <= Math.max(3, bench.rounds); round++) values.push(await longestScriptOnce(bench));
  return new Figures(values);
}

async function longestScriptOnce({ redisUrl }: Bench): Promise<number> {
  const [hosts, perHost] = [2_000, MAX_OFFER];
  const redis = new Redis(redisUrl);
  await redis.flushall();
  await redis.config('SET', 'slowlog-max-len', '20000');
  await redis.config('SET', 'slowlog-log-slower-than', '1000');
  await redis.slowlog('RESET');
  const settings = settingsFrom({ flag: { REDIS_URL: redisUrl }, environment: {}, file: {} });
  const stores = await connectStores({ settings, log: silentLog, name: 'trawl bench' });
  const { frontier, runs } = stores;
  await runs.open('cancelled', { ...FAST_RUN, dedup: 'ever' }, 'bench');
  for (let host = 0; host < hosts; host++) {
    const offers = Array.from({ length: perHost }, (_, n) => offerOf(host, n));
    await frontier.offer('cancelled', offers);
  }
  let released = 0;
  for (let call = 1; call <= 50; call++) {
    const { tasks } = await frontier.release({ limit: 200, window: 10_000, unpaced: false });
    released += tasks.length;
  }
  await runs.cancel('cancelled');
  while ((await frontier.drain()) > 0);
  const { cancelled } = (await runs.progress('cancelled')) ?? {};
  const left = hosts * perHost - released;
  if (cancelled !== left) throw new Error(`expected ${left} to be cancelled, got ${cancelled}`);
  stores.close();
  const calls = (await redis.slowlog('GET', -1)) as readonly (readonly [number, number, number, readonly string[]])[];
  const scripts = calls.filter(([, , , [name]]) => name === 'evalsha');
  await redis.config('SET', 'slowlog-log-slower-than', '10000');
  await redis.flushall();
  redis.disconnect();
  return Math.max(...scripts.map(([, , us]) => us)) / 1_000;
}

/** Measures how many of 600 requests a minute to one host four workers make, from the first request to the last, in percent. */
export async function politeness(bench: Bench): Promise<Figures> {
  const [pages, perMinute] = [130, 600];
  const sitemap = await writeSitemaps(bench.folder, bench.origin, 'polite', pages);
  const limit = ['--rate', `${perMinute}/min`, '--private-hosts', '127.0.0.0/8', '--robots', 'ignore'];
  const values: number[] = [];
  for (let round = 1; round <= bench.rounds; round++) {
    await crawlByFleet(bench, `polite-${round}`, sitemap, 4, {}, limit);
    const times = await fetchTimes(join(bench.folder, 'output', `polite-${round}`));
    // Deliveries released before there was a worker come in any order; the steady part begins after them.
    const steady = times.slice(20);
    const minutes = ((steady.at(-1) ?? 0) - (steady[0] ?? 0)) / 60_000;
    values.push((100 * (steady.length - 1)) / minutes / perMinute);
  }
  return new Figures(values);
}

/** Measures the time from the start of the process to its first page. */
export async function startToFirstPage({ folder, origin, rounds }: Bench): Promise<Figures> {
  const values: number[] = [];
  for (let round = 0; round < Math.max(5, rounds); round++) {
    const run = `start-${round}`;
    const began = Date.now();
    await runMeasured(TRAWL, ['crawl', pageUrl(origin, 'start', round), '--run', run, '--json', ...AT_FULL_SPEED], {
      folder,
    });
    const [first = 0] = await fetchTimes(join(folder, 'output', run));
    values.push((first - began) / 1_000);
  }
  return new Figures(values);
}

async function crawlByFleet(
  bench: Bench,
  run: string,
  sitemap: string,
  workers: number,
  env: Readonly<Record<string, string>> = {},
  flags: readonly string[] = AT_FULL_SPEED,
): Promise<Measured[]> {
  await clear(bench);
  await trawl(bench, ['produce', bench.origin + sitemap, '--run', run, '--json', ...flags]);
  return await Promise.all(
    Array.from({ length: workers }, () =>
      trawl(bench, ['work', '--exit-when-idle', '--log-format', 'json', ...flags], env),
    ),
  );
}

/** Empties Redis and the queues, so that workers don't process deliveries of an earlier row. */
export async function clear({ rabbitmqUrl, redisUrl }: Bench): Promise<void> {
  const redis = new Redis(redisUrl);
  await redis.flushall();
  redis.disconnect();
  const connection = await connect(rabbitmqUrl);
  const channel = await connection.createChannel();
  for (const queue of ['priority_queue', 'url_queue_ttl', 'failed_urls']) await channel.deleteQueue(queue);
  await connection.close();
}

export async function trawl(
  { folder, rabbitmqUrl, redisUrl, env: more }: Bench,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  input = '',
): Promise<Measured> {
  const servers = { RABBITMQ_URL: rabbitmqUrl, REDIS_URL: redisUrl };
  return await runMeasured(TRAWL, args, { folder, env: { ...servers, ...more, ...env }, input });
}

/** The result of one round at full speed. */
interface Round {
  readonly pages: number;
  readonly seconds: number;
  readonly processes: readonly Measured[];
}

async function speedOf(rounds: number, once: () => Promise<Round>): Promise<Speed> {
  const [speeds, costs, sizes]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < rounds; round++) {
    const { pages, seconds, processes } = await once();
    const usages = processes.map(({ usage }) => usage);
    speeds.push(pages / seconds);
    costs.push((usages.reduce((sum, { cpuMs }) => sum + cpuMs, 0) * 1_000) / pages);
    sizes.push(Math.max(...usages.map(({ maxRssMb }) => maxRssMb)));
  }
  return { pagesPerSecond: new Figures(speeds), cpuUsPerPage: new Figures(costs), rssMb: new Figures(sizes) };
}

/** Reads the times of a run's records, in order, in epoch milliseconds. */
export async function fetchTimes(folder: string): Promise<number[]> {
  const times: number[] = [];
  for (const name of await readdir(folder)) {
    const text = await readFile(join(folder, name), 'utf8');
    for (const [, time = ''] of text.matchAll(/"fetchedAt":"([^"]+)"/g)) times.push(Date.parse(time));
  }
  return times.sort((a, b) => a - b);
}

async function usedMemory(redis: Redis): Promise<number> {
  return Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))?.[1]);
}

function offerOf(host: number, n: number): Offer {
  const name = `host-${String(host).padStart(6, '0')}.example.com`;
  const start = `https://${name}/articles/`;
  const url = `${start}${String(n).padStart(80 - start.length, '0')}`;
  return { url, mark: url, host: name, step: '', depth: 0, queue: 'normal' };
}
