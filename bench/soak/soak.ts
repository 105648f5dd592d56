import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { randomOf } from '../../test/faults/harness/form.ts';
import { AT_FULL_SPEED } from '../../test/support/full-speed.ts';
import { LANE_SETTINGS } from '../../test/support/lane-settings.ts';
import { needPrograms } from '../../test/support/servers/ladder.ts';
import { privateServers } from '../../test/support/servers/programs.ts';
import { readCommandLine } from '../command-line.ts';
import { TRAWL } from '../measured-process.ts';
import { startOrigin, writeSitemaps } from '../origin.ts';
import { type Row, tableOf } from '../table.ts';
import { FAULTS, one } from './faults.ts';
import { Samples } from './samples.ts';

const { minutes, seed } = readCommandLine(
  `npm run soak -- [--minutes 10] [--seed 1]
Four workers at full speed, one run after the other, while servers and processes fail. At the end it checks for leaks (the workers' memory
and open files, keys in Redis) and for lost pages.`,
  { minutes: 10, seed: Math.floor(Math.random() * 2 ** 31) },
);
const random = randomOf(seed);

const [WORKERS, LANES, PAGES] = [4, 2, 10_000];
const RETENTION_S = 20;
/** Time by which Redis must be empty: covers the retention, the workers' next check, and the last page's minute in the cache. */
const KEYS_GONE_WITHIN_MS = 90_000;
/** Time by which files of records must be closed: a worker closes them after a minute without a write. */
const FILES_CLOSED_AFTER_MS = 75_000;
const FAULT_EVERY_MS = 15_000;
const SAMPLE_EVERY_MS = 2_000;
/** Allowed growth of memory from the middle third to the last. */
const FLAT_WITHIN = 0.1;

const folder = await mkdtemp(join(tmpdir(), 'trawl-soak-'));
const servers = await privateServers(needPrograms());
await Promise.all([servers.rabbitmq.start(), servers.redis.start()]);
const origin = await startOrigin(folder);
const sitemap = await writeSitemaps(folder, origin.url, 'soak', PAGES);
const env = {
  PATH: process.env.PATH,
  HOME: process.env.HOME,
  ...LANE_SETTINGS,
  RABBITMQ_URL: servers.rabbitmq.url,
  REDIS_URL: servers.redis.url,
  RUN_RETENTION: `${RETENTION_S}s`,
  LOG_FORMAT: 'json',
};
const problems: string[] = [];
const producers = new Set<ChildProcess>();
let [runs, pages, isOver] = [0, 0, false];

say(`${minutes} min, ${WORKERS} workers, seed ${seed}, ${origin.name}`);
const workers = Array.from({ length: WORKERS }, (_, n) => startWorker(n));
const samples = workers.map(({ pid = 0 }) => new Samples(pid));
await Promise.all(workers.map(untilConsuming));
for (const each of samples) each.rest();
const sampling = setInterval(() => {
  for (const each of samples) each.take();
}, SAMPLE_EVERY_MS);
const ending = setTimeout(() => {
  isOver = true;
}, minutes * 60_000);

const told = new Map<string, number>();
try {
  await Promise.all([...Array.from({ length: LANES }, (_, lane) => keepCrawling(lane)), keepBreaking()]);
  clearInterval(sampling);
  await Promise.all([checkKeys(), sleep(FILES_CLOSED_AFTER_MS)]);
  for (const each of samples) each.rest();
  const codes = await Promise.all(workers.map(endWorker));
  if (codes.some((code) => code !== 0)) problems.push(`workers ended with ${codes.join(', ')}`);
  tellSamples();
  const faults = [...told].map(([name, times]) => `${name} ${times}×`).join(', ');
  say(`${runs} runs, ${pages.toLocaleString('en').replaceAll(',', ' ')} pages; ${faults}`);
} finally {
  clearTimeout(ending);
  clearInterval(sampling);
  for (const child of [...workers, ...producers]) child.kill('SIGKILL');
  await origin.stop();
  await servers.remove();
  await rm(folder, { recursive: true, force: true });
}
for (const problem of problems) say(`PROBLEM: ${problem}`);
say(problems.length === 0 ? 'Nothing leaked, nothing lost.' : `${problems.length} problems.`);
process.exitCode = problems.length === 0 ? 0 : 1;

function startWorker(n: number): ChildProcess {
  const child = spawn(process.execPath, [TRAWL, 'work', ...AT_FULL_SPEED], {
    ...{ cwd: folder, env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  child.stderr?.resume();
  child.once('exit', (code, signal) => {
    if (!isOver) problems.push(`worker ${n} ended with ${code ?? signal}`);
  });
  return child;
}

function untilConsuming({ stderr }: ChildProcess): Promise<void> {
  return new Promise((resolve) =>
    stderr?.on('data', (text: Buffer) => {
      if (text.includes('"consuming"')) resolve();
    }),
  );
}

function endWorker(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null) return Promise.resolve(child.exitCode);
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  return ended;
}

/** Starts one run after another. A killed producer is started again, as `trawl status` would advise. */
async function keepCrawling(lane: number): Promise<void> {
  for (let n = 1; !isOver; n++) {
    const run = `soak-${lane}-${n}`;
    const how = ['--run', run, '--fresh', '--wait', '--json', ...AT_FULL_SPEED];
    let ended: Awaited<ReturnType<typeof trawl>>;
    do ended = await trawl('produce', origin.url + sitemap, ...how);
    while (ended.signal === 'SIGKILL');
    const progress = JSON.parse(ended.stdout || '{}');
    const { discovered, done, state } = progress;
    if (state !== 'finished' || done !== PAGES || discovered !== PAGES)
      problems.push(`${run}: ${JSON.stringify(progress)}`);
    const records = await trawl('records', run);
    const urls = new Set(Array.from(records.stdout.matchAll(/"url":"([^"]+)"/g), ([, url]) => url));
    if (urls.size !== PAGES) problems.push(`${run}: ${urls.size} URLs in its records`);
    await rm(join(folder, 'output', run), { recursive: true, force: true });
    [runs, pages] = [runs + 1, pages + PAGES];
    progressed(`${run} ended`);
  }
}

async function keepBreaking(): Promise<void> {
  while (!isOver) {
    await sleep(FAULT_EVERY_MS * (0.5 + random()));
    const fault = one(FAULTS, random);
    if (isOver || fault === undefined) return;
    progressed(fault.name);
    await fault.happen({ servers, workers, producers }, random);
    told.set(fault.name, (told.get(fault.name) ?? 0) + 1);
  }
}

function trawl(...words: string[]): Promise<{ readonly stdout: string; readonly signal: string | null }> {
  const child = spawn(process.execPath, [TRAWL, ...words], { cwd: folder, env, stdio: ['ignore', 'pipe', 'ignore'] });
  if (words[0] === 'produce') producers.add(child);
  let stdout = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  return new Promise((resolve) =>
    child.once('close', (_, signal) => {
      producers.delete(child);
      resolve({ stdout, signal });
    }),
  );
}

/** Checks that Redis holds nothing of the runs once all are older than the retention and the last page has left the cache. */
async function checkKeys(): Promise<void> {
  const redis = new Redis(servers.redis.url);
  const deadline = Date.now() + KEYS_GONE_WITHIN_MS;
  const passing = async (): Promise<string[]> => [...(await redis.keys('run:*')), ...(await redis.keys('content:*'))];
  let left = await passing();
  while (left.length > 0 && Date.now() < deadline) {
    await sleep(1_000);
    left = await passing();
  }
  if (left.length > 0) problems.push(`${left.length} keys of old runs are left: ${left.slice(0, 5).join(', ')}`);
  const keys = await redis.keys('*');
  say(`Redis holds ${keys.length} keys after all: ${keys.slice(0, 10).join(', ')}`);
  redis.disconnect();
}

function tellSamples(): void {
  const rows: Row[] = samples.map((each, n) => {
    const rss = each.thirds();
    const growth = rss[2] / rss[1] - 1;
    const [first, last] = each.handlesAtRest;
    if (growth > FLAT_WITHIN) problems.push(`worker ${n} grew by ${(100 * growth).toFixed(0)} %`);
    if (last > first) problems.push(`worker ${n} had ${first} files open at rest, and has ${last}`);
    const mib = rss.map((size) => size.toFixed(0)).join(' · ');
    return [`worker ${n}`, mib, `${(100 * growth).toFixed(1)} %`, `${first} → ${last}`];
  });
  process.stdout.write(tableOf(['', 'RSS MiB by thirds', 'growth', 'open files at rest'], rows));
}

function progressed(what: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${runs} runs · ${what}`);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
