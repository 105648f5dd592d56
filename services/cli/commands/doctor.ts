import { rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { type ConnectOptions, connectInspector, connectStores, tryProxy } from '../../../shared/backends/backends.ts';
import { placeOf } from '../../../shared/backends/place.ts';
import { tryCache } from '../../../shared/backends/response-caches.ts';
import { openRecords, recordsPlaceOf } from '../../../shared/backends/sinks.ts';
import { counted, duration } from '../../../shared/control/format.ts';
import { findCrawler } from '../../../shared/crawler/catalogue.ts';
import { InterruptedError, messageOf } from '../../../shared/runtime/errors.ts';
import { silentLog } from '../../../shared/runtime/logger.ts';
import { makeOutputFolder, unusableOutput } from '../../../shared/runtime/output-folder.ts';
import { VERSION } from '../../../shared/runtime/version.ts';
import { unknownInEnvFile, userAgentOf } from '../../../shared/settings/settings.ts';
import { addCommonOptions, type CommandModule, type Context, withContext } from '../command.ts';
import { hostHeadersOf } from '../process/host-headers.ts';
import { routingRulesOf } from '../process/routing-rules.ts';
import { tell } from '../process/with-stores.ts';
import { unknownText } from '../text/unknown-setting.ts';

interface DoctorOptions {
  readonly worker?: boolean;
  readonly release?: boolean;
}

/** Runs that may have something queued: all that Redis remembers, up to a limit. */
const MOST_RUNS = 100_000;
/** Enough bytes to notice a full disk. */
const PROBE_BYTES = 4_096;
/** Shown in the lists of connections that RabbitMQ, Redis and Postgres keep. */
const NAME = 'trawl doctor';

/** One check. A warning doesn't make the doctor fail. */
interface Finding {
  readonly what: string;
  readonly state: 'ok' | 'warning' | 'problem';
  readonly said: string;
}

/** `trawl doctor`: what is wrong, and how to fix it. */
export const command: CommandModule = {
  define(command: Command, exit) {
    addCommonOptions(command, ['run', 'fetch', 'worker', 'fleet', 'output'])
      .option('--worker', 'only: is the worker of this machine or container alive and consuming? For health checks')
      .option('--release', 'after RabbitMQ was wiped: lets all that was queued in it wait again, at once')
      .action(async (options: DoctorOptions) => {
        const { worker = false, release = false } = options;
        const action = worker ? checkWorker : release ? releaseQueued : checkAll;
        exit(await withContext({ ...options }, { logLevel: 'silent' }, action));
      });
  },
};

async function checkAll(context: Context): Promise<number> {
  const { settings } = context;
  const findings: Finding[] = [...settingsFindings(context), contactFinding(context)];
  findings.push(
    await found('crawler', async () => (await findCrawler(settings.crawler, settings.crawlersDir)).crawler.name),
  );
  findings.push(await found('routing rules', async () => `${(await routingRulesOf(settings)).length} in force`));
  if (settings.hostHeaders !== '') findings.push(await found('host headers', () => checkHostHeaders(context)));
  findings.push(...(await checkProxies(context)));
  findings.push(await found('records', () => checkRecords(context)));
  findings.push(...(await checkRedis(context)), ...(await checkCache(context)));
  findings.push(await found('RabbitMQ', () => checkRabbitMq(context)));
  const isWell = findings.every(({ state }) => state !== 'problem');
  const lines = findings.map(({ what, state, said }) => `${state.padEnd(8)} ${what}: ${said}`);
  tell(context, { ok: isWell, findings }, lines);
  return isWell ? 0 : 1;
}

/** For the health check of a container: consuming, and heard of lately. */
async function checkWorker(context: Context): Promise<number> {
  const stores = await connectStores(once(context));
  try {
    const workers = (await stores.roster.workers()).filter(({ host }) => host === hostname());
    const [worker] = workers.sort((a, b) => a.silentMs - b.silentMs);
    const isWell = worker?.state === 'consuming';
    const said =
      worker === undefined
        ? `no worker of ${hostname()} was heard of lately`
        : `${worker.id} is ${worker.state}, heard ${duration(worker.silentMs)} ago`;
    tell(context, { ok: isWell, worker: worker ?? null }, [said]);
    return isWell ? 0 : 1;
  } finally {
    stores.close();
  }
}

/** Ends every queued lease: without it, they end by themselves, up to an hour and five minutes later. */
async function releaseQueued(context: Context): Promise<number> {
  const stores = await connectStores(once(context));
  let released = 0;
  try {
    for (const run of await stores.runs.listOpen(MOST_RUNS)) {
      let next: string | undefined;
      do {
        const part = await stores.frontier.endQueued(run, next);
        released += part.ended;
        next = part.next;
      } while (next !== undefined);
    }
  } finally {
    stores.close();
  }
  const text = `${counted(released, 'queued URL')} waiting again; deliveries of them that are left will be dropped`;
  tell(context, { released }, [text]);
  return 0;
}

function settingsFindings({ settings: { insecure } }: Context): Finding[] {
  const warnings = unknownInEnvFile().map(unknownText);
  if (insecure.length > 0) warnings.push(`certificates of ${insecure.join(', ')} are not checked (INSECURE)`);
  return [
    ok('settings', 'can be read'),
    ...warnings.map((said) => ({ what: 'settings', state: 'warning', said }) as const),
  ];
}

function contactFinding({ settings }: Context): Finding {
  const agent = userAgentOf(settings, VERSION);
  if (settings.contactUrl !== undefined || settings.userAgent !== '') return ok('User-Agent', agent);
  return { what: 'User-Agent', state: 'warning', said: `${agent}: a site owner can't find you. Set CONTACT_URL.` };
}

async function checkHostHeaders({ settings }: Context): Promise<string> {
  const { names } = await hostHeadersOf(settings);
  return `${[...names].join(', ') || 'none'}, from ${settings.hostHeaders}`;
}

/** Only connects to each: a proxy that needs a login, or reaches nothing, still passes. */
async function checkProxies({ settings: { proxies } }: Context): Promise<Finding[]> {
  const findings = await Promise.all(
    proxies.map((proxy) =>
      found(`proxy ${proxy.name}`, async () => {
        await tryProxy(proxy);
        return 'can be connected to';
      }),
    ),
  );
  const someAnswer = findings.some(({ state }) => state === 'ok');
  return findings.map((finding) =>
    someAnswer && finding.state === 'problem' ? { ...finding, state: 'warning' } : finding,
  );
}

async function checkRecords(context: Context): Promise<string> {
  const { settings } = context;
  if (settings.sink === undefined) return await checkFolder(settings.outputDir);
  const source = await openRecords(once(context));
  try {
    return `${recordsPlaceOf(settings)} answers; records of ${counted((await source.runs()).length, 'run')} there`;
  } finally {
    await source.close();
  }
}

async function checkFolder(folder: string): Promise<string> {
  makeOutputFolder(folder);
  const probe = join(folder, `.trawl-${process.pid}`);
  try {
    await writeFile(probe, Buffer.alloc(PROBE_BYTES));
  } catch (error: unknown) {
    throw unusableOutput(folder, error);
  } finally {
    await rm(probe, { force: true });
  }
  return `${folder} can be written to`;
}

/** Connects as a worker would: its warnings become warnings, its refusals problems. */
async function checkRedis(context: Context): Promise<Finding[]> {
  const warnings: Finding[] = [];
  const warn = (_: object, said: string): void => void warnings.push({ what: 'Redis', state: 'warning', said });
  const finding = await found('Redis', async () => {
    const stores = await connectStores({ ...once(context), log: { ...silentLog, warn }, warnsOfLoss: true });
    try {
      await stores.checkMarks?.();
      const [runs, workers] = await Promise.all([stores.runs.counts(), stores.roster.workers()]);
      return `answers; ${counted(runs.known, 'run')} known, ${counted(workers.length, 'worker')} alive`;
    } finally {
      stores.close();
    }
  });
  return [finding, ...warnings.filter(({ said }) => !said.startsWith('Attempt'))];
}

/**
 * A cache in the frontier's Redis needs no check of its own. Workers continue without a separate one: its failure is a
 * warning.
 */
async function checkCache({ settings: { cacheRedisUrl, cacheTtl } }: Context): Promise<Finding[]> {
  if (cacheRedisUrl === undefined || cacheTtl === 0) return [];
  const place = placeOf(cacheRedisUrl);
  const finding = await found('response cache', async () => {
    await tryCache(cacheRedisUrl, NAME);
    return `${place} answers`;
  });
  if (finding.state === 'ok') return [finding];
  const said = `${place}: ${finding.said}. Workers continue without it. Check CACHE_REDIS_URL.`;
  return [{ ...finding, state: 'warning', said }];
}

async function checkRabbitMq(context: Context): Promise<string> {
  const inspector = await connectInspector(once(context));
  try {
    const { priority, normal, failed } = await inspector.depths();
    const consumers = priority.consumers + normal.consumers;
    return `answers; ${priority.ready} priority and ${counted(normal.ready, 'normal delivery', 'normal deliveries')} ready, ${counted(failed.ready, 'dead letter')}, ${counted(consumers, 'consumer')}`;
  } finally {
    await inspector.stop();
  }
}

function once({ settings, signal }: Context): ConnectOptions {
  return { settings, log: silentLog, name: NAME, attempts: 1, signal };
}

async function found(what: string, look: () => Promise<string>): Promise<Finding> {
  try {
    return ok(what, await look());
  } catch (error: unknown) {
    if (error instanceof InterruptedError) throw error;
    return { what, state: 'problem', said: messageOf(error) };
  }
}

function ok(what: string, said: string): Finding {
  return { what, state: 'ok', said };
}
