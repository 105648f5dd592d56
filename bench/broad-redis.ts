import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { connectStores, type Stores } from '../shared/backends/backends.ts';
import { MAX_OFFER, type Offer } from '../shared/ports/frontier/frontier.ts';
import type { RunOptions } from '../shared/ports/runs.ts';
import { silentLog } from '../shared/runtime/logger.ts';
import { settingsFrom } from '../shared/settings/settings.ts';
import { FAST_RUN } from '../test/support/builders.ts';
import { needPrograms } from '../test/support/servers/ladder.ts';
import { privateServers } from '../test/support/servers/programs.ts';
import { readCommandLine } from './command-line.ts';
import { Figures } from './figures.ts';
import { SimulatedFleet } from './simulated/fleet.ts';
import { RedisFigures, type RedisSpan } from './simulated/redis-figures.ts';
import { WATCHED } from './simulated/worker.ts';
import { type Row, tableOf } from './table.ts';

const {
  seconds,
  hosts,
  pages: pagesPerHost,
  workers,
  slots,
  only,
} = readCommandLine(
  `npm run bench:redis -- [--seconds 60] [--hosts 100000] [--pages 10] [--workers 200] [--slots 32] [--only broad,late,one]
Measures the load that Redis can take, with simulated workers on a Redis of their own: they admit and settle pages as workers do, and fetch nothing.
Five minutes (--seconds 300) need more pages of each host: --pages 25.`,
  { seconds: 60, hosts: 100_000, pages: 10, workers: 200, slots: 32, only: '' },
);
const PROCESSES = 4;
const SMALL_RUN = 50;
const SMALL_RUN_EVERY_MS = 5_000;
const POLITE: RunOptions = { ...FAST_RUN, dedup: 'run', intervalMs: 1_000 };
const MINUTE_MS = 60_000;

const folder = await mkdtemp(join(tmpdir(), 'trawl-bench-'));
const servers = await privateServers(needPrograms());
await servers.redis.start();
const redis = new Redis(servers.redis.url);
const figures = new RedisFigures(redis);
const settings = settingsFrom({ flag: { REDIS_URL: servers.redis.url }, environment: {}, file: {} });
const rows: Row[] = [];
let smallRuns = 0;

try {
  await part('broad', broad);
  await part('one', oneHost);
  await part('late', (stores) => late(stores, 'late tasks of many hosts, a second', hosts, POLITE.intervalMs));
  await part('late', (stores) => late(stores, 'late tasks of one host at 1/min, a second', 1, MINUTE_MS));
  process.stdout.write(`\n${tableOf(['', 'figure', 'must', ''], rows)}`);
} finally {
  redis.disconnect();
  await servers.remove();
  await rm(folder, { recursive: true, force: true });
}

/** Measures many hosts at 60/min with small runs beside them, and again with all those hosts paused. */
async function broad(stores: Stores): Promise<void> {
  const before = await figures.memory();
  await stores.runs.open('big', POLITE, 'bench');
  await offer(stores, 'big', hosts, pagesPerHost, 0);
  const marks = Number(await redis.memory('USAGE', 'run:big:seen', 'SAMPLES', 0));
  const bytes = (await figures.memory()) - before - marks;
  rows.push(['Redis bytes per waiting URL, beside its mark', (bytes / (hosts * pagesPerHost)).toFixed(0), '≤ 200', '']);
  const fleet = await startFleet();
  await sleep(5_000);
  await figures.start();
  const done = await pagesOf(stores, 'big');
  const first = await smallRunsBeside(stores, fleet, seconds * 1_000);
  const span = await figures.stop();
  const pages = (await pagesOf(stores, 'big')) - done;
  if ((await stores.runs.progress('big'))?.waiting === 0)
    throw new Error(`the big run was over within ${seconds} s: give it more --pages than ${pagesPerHost}`);
  tellSpan(`${hosts} hosts`, span, pages);
  tellFirst('a run of 50 beside it, first page, s', first);
  await pauseAll(stores);
  // Every host of the big run is due at once, and paused.
  await figures.start();
  tellFirst('the same, all those hosts paused, s', await smallRunsBeside(stores, fleet, 20_000));
  tellSpan('paused', await figures.stop(), 0);
  const { cpuMs, rssMb } = await fleet.stop();
  rows.push(['  RSS MB, the largest process of workers', rssMb.toFixed(0), '', '']);
  rows.push(['  CPU s of all workers', (cpuMs / 1_000).toFixed(0), '', '']);
  rows.push(['Redis bytes per host that was asked', (await bytesPerHost()).toFixed(0), '≤ 400', '']);
}

/** Measures one host at 6 000 requests a minute. */
async function oneHost(stores: Stores): Promise<void> {
  await stores.runs.open('one', { ...POLITE, intervalMs: 10 }, 'bench');
  await offer(stores, 'one', 1, 5_000, 0);
  const fleet = await startFleet();
  await sleep(5_000);
  await figures.start();
  const done = await pagesOf(stores, 'one');
  await sleep(20_000);
  tellSpan('one host', await figures.stop(), (await pagesOf(stores, 'one')) - done);
  await fleet.stop();
}

/** Measures how fast a million tasks past their deadline end. */
async function late(stores: Stores, what: string, ofHosts: number, intervalMs: number): Promise<void> {
  const tasks = hosts * pagesPerHost;
  await stores.runs.open('late', { ...POLITE, intervalMs }, 'bench');
  await offer(stores, 'late', ofHosts, tasks / ofHosts, 1);
  const fleet = await startFleet();
  await figures.start();
  const began = performance.now();
  let failed = 0;
  while (failed < tasks && performance.now() - began < 300_000) {
    await sleep(500);
    failed = (await stores.runs.progress('late'))?.failed ?? 0;
  }
  const took = performance.now() - began;
  const span = await figures.stop();
  await fleet.stop();
  rows.push([what, new Figures([(1_000 * failed) / took]).text(), '≥ 10 000', '']);
  if (failed < tasks) rows.push(['  were left', String(tasks - failed), '', '']);
  tellLongest(span);
}

/** Offers small runs for a while. Returns the seconds from the offer of each to its first page. */
async function smallRunsBeside(stores: Stores, fleet: SimulatedFleet, forMs: number): Promise<Figures> {
  const began = performance.now();
  const offered = new Map<string, number>();
  while (performance.now() - began < forMs) {
    const run = `${WATCHED}${++smallRuns}`;
    await stores.runs.open(run, POLITE, 'bench');
    offered.set(run, Date.now());
    await offer(stores, run, SMALL_RUN, 1, 0);
    await stores.runs.seal(run, 'bench');
    const { waiting, inFlight } = (await stores.runs.progress('big')) ?? {};
    say(`  ${run}: of the big run, ${waiting} wait and ${inFlight} are out; ${fleet.broker.depth} in the queue`);
    await sleep(SMALL_RUN_EVERY_MS);
  }
  await sleep(SMALL_RUN_EVERY_MS);
  const ms = [...offered].map(([run, at]) => (fleet.pages.get(run)?.[0] ?? Number.POSITIVE_INFINITY) - at);
  return new Figures(ms.map((each) => each / 1_000));
}

async function pauseAll({ gate }: Stores): Promise<void> {
  for (let n = 0; n < hosts; n += MAX_OFFER) {
    const names = Array.from({ length: Math.min(MAX_OFFER, hosts - n) }, (_, i) => hostName('big', n + i));
    await Promise.all(names.map((name) => gate.pause(name, 10 * MINUTE_MS, 'bench')));
  }
}

async function offer({ frontier }: Stores, run: string, ofHosts: number, perHost: number, deadlineMs: number) {
  let offers: Offer[] = [];
  const send = async (): Promise<void> => {
    if (offers.length > 0) await frontier.offer(run, offers);
    offers = [];
  };
  for (let host = 0; host < ofHosts; host++) {
    for (let n = 0; n < perHost; n++) {
      offers.push(offerOf(run, host, n, deadlineMs));
      if (offers.length === MAX_OFFER) await send();
    }
  }
  await send();
}

/** A URL of 80 characters. */
function offerOf(run: string, host: number, n: number, deadlineMs: number): Offer {
  const name = hostName(run, host);
  const start = `https://${name}/articles/`;
  const url = `${start}${String(n).padStart(80 - start.length, '0')}`;
  const late = deadlineMs === 0 ? {} : { deadlineMs };
  return { url, mark: url, host: name, step: '', depth: 0, queue: 'normal', ...late };
}

function hostName(run: string, n: number): string {
  return `host-${String(n).padStart(6, '0')}.${run}.example`;
}

async function pagesOf({ runs }: Stores, run: string): Promise<number> {
  return (await runs.progress(run))?.done ?? 0;
}

/** Bytes that Redis keeps of a host besides its URLs: the memory freed by deleting its hash, and its entry in the run's `ready` set. */
async function bytesPerHost(): Promise<number> {
  const before = await figures.memory();
  let [cursor, keys] = ['0', 0];
  do {
    const [next, found] = await redis.scan(cursor, 'MATCH', 'ratelimit:*', 'COUNT', 10_000);
    cursor = next;
    keys += found.filter((key) => !key.endsWith(':open')).length;
    if (found.length > 0) await redis.del(...found);
  } while (cursor !== '0');
  const freed = before - (await figures.memory());
  const ready = Number(await redis.memory('USAGE', 'run:big:ready', 'SAMPLES', 0));
  return freed / keys + ready / (await redis.zcard('run:big:ready'));
}

async function startFleet(): Promise<SimulatedFleet> {
  const fleet = new SimulatedFleet({ redisUrl: servers.redis.url, workers, processes: PROCESSES, slots });
  await fleet.start();
  return fleet;
}

async function part(name: string, work: (stores: Stores) => Promise<void>): Promise<void> {
  if (only !== '' && !only.split(',').includes(name)) return;
  await redis.flushall();
  const stores = await connectStores({ settings, log: silentLog, name: 'trawl bench' });
  await work(stores);
  stores.close();
}

function tellSpan(what: string, span: RedisSpan, pages: number): void {
  const { seconds: took, scripts, cpuPercent } = span;
  if (pages > 0) {
    rows.push([`${what}, pages a second`, (pages / took).toFixed(0), '', '']);
    rows.push(['  scripts per page', (scripts / pages).toFixed(2), '', '']);
  }
  rows.push([`  scripts a second${pages > 0 ? '' : `, ${what}`}`, (scripts / took).toFixed(0), '', '']);
  rows.push(['  Redis, % of a core', cpuPercent.toFixed(0), '', '']);
  tellLongest(span);
}

function tellLongest({ longest }: RedisSpan): void {
  const texts = longest.slice(0, 4).map(([name, ms]) => `${name} ${ms.toFixed(1)}`);
  rows.push(['  longest scripts, ms', texts.join(', '), '', '']);
}

function tellFirst(what: string, first: Figures): void {
  rows.push([what, first.text(2), '≤ 1', '']);
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}
