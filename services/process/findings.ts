import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { answered } from '../../shared/backends/attempts.ts';
import {
  brokerAlarm,
  type ConnectOptions,
  checkStores,
  connectForReplay,
  connectInspector,
  connectStores,
} from '../../shared/backends/backends.ts';
import { tryProxy } from '../../shared/backends/fetchers.ts';
import { placeOf } from '../../shared/backends/place.ts';
import { tryCache } from '../../shared/backends/response-caches.ts';
import { openRecords, recordsPlaceOf } from '../../shared/backends/sinks.ts';
import { endingCertificates } from '../../shared/backends/tls-words.ts';
import {
  alarmText,
  areSomeTooLarge,
  FULL_TEXT,
  isQueueFull,
  TOO_LARGE_TEXT,
} from '../../shared/control/broker-trouble.ts';
import { counted } from '../../shared/control/format.ts';
import { fullnessText } from '../../shared/control/fullness.ts';
import { lackingSecrets } from '../../shared/control/workers/lacking-secrets.ts';
import { unableWorkers, WITHOUT_BROKER } from '../../shared/control/workers/unable-workers.ts';
import { secretsFrom } from '../../shared/crawler/around/secrets.ts';
import { findAll, findCrawler } from '../../shared/crawler/loading/catalogue.ts';
import { CONNECT_TIMEOUT_MS } from '../../shared/runtime/connect-timeout.ts';
import { InterruptedError, messageOf, UnavailableError } from '../../shared/runtime/errors.ts';
import { makeOutputFolder, unusableOutput } from '../../shared/runtime/files/output-folder.ts';
import { silentLog } from '../../shared/runtime/logger.ts';
import { TRAWL } from '../../shared/runtime/started-as.ts';
import { VERSION } from '../../shared/runtime/version.ts';
import { rabbitmqUrlOf, readEnvironment, redisUrlOf, userAgentOf } from '../../shared/settings/settings.ts';
import type { Settings } from '../../shared/settings/table.ts';
import { hostHeadersOf } from './host-headers.ts';
import { missingDeliveries, strayReaders } from './lost-deliveries.ts';
import { routingRulesOf } from './routing-rules.ts';
import { unknownTexts } from './unknown-setting.ts';

/** Enough bytes to notice a full disk. */
const PROBE_BYTES = 4_096;
/** The connection's name in the lists of RabbitMQ, Redis and Postgres. */
const NAME = 'trawl doctor';

/** Time for finding out what is wrong if a connection can't be made. */
const PROBE_MS = 5_000;
const PATIENCE_MS = CONNECT_TIMEOUT_MS + PROBE_MS;

/** The result of one check. A warning doesn't make the doctor fail. */
export interface Finding {
  readonly what: string;
  readonly state: 'ok' | 'warning' | 'problem';
  readonly said: string;
}

interface CheckContext {
  readonly settings: Settings;
  readonly signal?: AbortSignal;
  /** Longest wait for a service, in milliseconds. Default: 15 s. */
  readonly patienceMs?: number;
  /** Whether only the crawls of this machine matter, which need neither Redis nor RabbitMQ. */
  readonly isLocal?: boolean;
}

/** Checks settings, crawler and records, and for a fleet Redis and RabbitMQ. Returns what is wrong, and how to fix it. */
export async function findTroubles(context: CheckContext): Promise<readonly Finding[]> {
  const { settings, isLocal = false } = context;
  const findings: Finding[] = [...settingsFindings(context), contactFinding(context)];
  findings.push(
    await found('crawler', async () => (await findCrawler(settings.crawler, settings.crawlersDir)).crawler.name),
  );
  findings.push(...(await checkSecrets(context)));
  findings.push(await found('routing rules', async () => `${(await routingRulesOf(settings)).length} in force`));
  if (settings.hostHeaders !== '') findings.push(await found('host headers', () => checkHostHeaders(context)));
  const { sink, cacheRedisUrl } = settings;
  const checks = [
    checkProxies(context),
    found('records', () =>
      sink === undefined ? checkFolder(settings.outputDir) : inTime(context, recordsPlaceOf(settings), checkRecords),
    ),
    isLocal ? [] : checkRedis(context),
    cacheRedisUrl === undefined || settings.cacheTtl === 0 ? [] : checkCache(context, cacheRedisUrl),
    isLocal ? [] : found('RabbitMQ', () => inTime(context, rabbitMqAt(settings), checkRabbitMq)).then((only) => [only]),
  ] as const;
  // If several checks are interrupted, the first one's error is reported.
  await Promise.allSettled(checks);
  const [proxies, records, redis, cache, rabbitMq] = await Promise.all(checks);
  findings.push(...proxies, records, ...redis, ...cache, ...rabbitMq);
  if (!isLocal && [...redis, ...rabbitMq].every(({ state }) => state !== 'problem'))
    findings.push(...(await checkDeliveries(context)));
  return findings;
}

/**
 * Checks a service, until that takes too long: a service that hangs reports nothing.
 *
 * @throws UnavailableError
 */
async function inTime<T>(
  context: CheckContext,
  where: string,
  look: (context: CheckContext) => Promise<T>,
): Promise<T> {
  const { signal, patienceMs = PATIENCE_MS } = context;
  const late = AbortSignal.timeout(patienceMs);
  const either = signal === undefined ? late : AbortSignal.any([signal, late]);
  try {
    // The interrupted operation reports an interruption itself.
    return await answered(look({ ...context, signal: either }), where, late);
  } catch (error: unknown) {
    if (!late.aborted || signal?.aborted === true || !(error instanceof InterruptedError)) throw error;
    const why = 'it hangs, is overloaded, or is blocked by something in between';
    throw new UnavailableError(`${where} has not answered within ${patienceMs / 1_000} s: ${why}`);
  }
}

function settingsFindings({ settings }: CheckContext): Finding[] {
  const { insecure } = settings;
  const warnings = unknownTexts(settings);
  if (insecure.length > 0) warnings.push(`certificates of ${insecure.join(', ')} are not checked (INSECURE)`);
  warnings.push(...endingCertificates(settings, Date.now()));
  return [
    ok('settings', 'can be read'),
    ...warnings.map((said) => ({ what: 'settings', state: 'warning', said }) as const),
  ];
}

function contactFinding({ settings }: CheckContext): Finding {
  const agent = userAgentOf(settings, VERSION);
  if (settings.contactUrl !== undefined || settings.userAgent !== undefined) return ok('User-Agent', agent);
  return { what: 'User-Agent', state: 'warning', said: `${agent}: a site owner can't find you. Set CONTACT_URL.` };
}

/** Checks the secrets of crawlers. A crawl with a crawler that lacks some is refused; a worker leaves its tasks to others. */
async function checkSecrets({ settings }: CheckContext): Promise<Finding[]> {
  const { crawlers, chosen } = await findAll(settings.crawlersDir, settings.crawler);
  const { lacking } = secretsFrom(
    readEnvironment(),
    crawlers.map(({ crawler }) => crawler),
  );
  return Object.entries(lacking).map(([crawler, names]) => ({
    what: 'secrets',
    state: crawler === chosen?.crawler.name ? 'problem' : 'warning',
    said: `expected ${names.join(', ')} in the environment: secrets of crawler ${crawler}. A worker here leaves its tasks to others`,
  }));
}

async function checkHostHeaders({ settings }: CheckContext): Promise<string> {
  const { names } = await hostHeadersOf(settings);
  return `${[...names].join(', ') || 'none'}, from ${settings.hostHeaders}`;
}

/** Checks the proxies. It only connects to each: a proxy that needs a login, or reaches nothing, still passes. */
async function checkProxies({ settings: { proxies } }: CheckContext): Promise<Finding[]> {
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

async function checkRecords(context: CheckContext): Promise<string> {
  const { settings } = context;
  const source = await openRecords(once(context));
  try {
    const problem = await source.storingProblem?.();
    if (problem !== undefined) throw new UnavailableError(`${recordsPlaceOf(settings)} takes no records: ${problem}`);
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

function redisAt(settings: Settings): string {
  return `Redis at ${placeOf(redisUrlOf(settings))}`;
}

function rabbitMqAt(settings: Settings): string {
  return `RabbitMQ at ${placeOf(rabbitmqUrlOf(settings))}`;
}

/** Connects as a worker would, whose warnings become warnings and whose refusals become problems. */
async function checkRedis(context: CheckContext): Promise<Finding[]> {
  const warnings: Finding[] = [];
  const warn = (_: object, said: string): void => void warnings.push({ what: 'Redis', state: 'warning', said });
  const look = async (within: CheckContext): Promise<string> => {
    const stores = await connectStores({ ...once(within), log: { ...silentLog, warn }, warnsOfLoss: true });
    try {
      await checkStores(stores);
      const full = stores.memory === undefined ? undefined : fullnessText(await stores.memory.memory());
      if (full !== undefined) warn({}, full);
      const [runs, workers] = await Promise.all([stores.runs.counts(), stores.roster.workers()]);
      const told = [...lackingSecrets(workers), ...unableWorkers(workers)];
      warnings.push(...told.map((said) => ({ what: 'workers', state: 'warning', said }) as const));
      return `answers; ${counted(runs.known, 'run')} known, ${counted(workers.length, 'worker')} alive`;
    } finally {
      stores.close();
    }
  };
  const finding = await found('Redis', () => inTime(context, redisAt(context.settings), look));
  return [finding, ...warnings.filter(({ said }) => !said.startsWith('Attempt'))];
}

/**
 * Checks a separate response cache; one in the frontier's Redis needs no check of its own. Workers continue without it, so its failure is a
 * warning.
 */
async function checkCache(context: CheckContext, url: string): Promise<Finding[]> {
  const place = placeOf(url);
  const finding = await found('response cache', async () => {
    await inTime(context, 'it', ({ settings }) => tryCache(url, NAME, settings));
    return `${place} answers`;
  });
  if (finding.state === 'ok') return [finding];
  const said = `${place}: ${finding.said}. Workers continue without it. Check CACHE_REDIS_URL.`;
  return [{ ...finding, state: 'warning', said }];
}

async function checkRabbitMq(context: CheckContext): Promise<string> {
  const inspector = await connectInspector({ ...once(context), asWorker: true });
  try {
    const { priority, normal, failed } = await inspector.depths();
    const alarm = await brokerAlarm(once(context));
    if (alarm !== undefined) throw new UnavailableError(alarmText(alarm));
    const consumers = priority.consumers + normal.consumers;
    return `answers; ${priority.ready} priority and ${counted(normal.ready, 'normal delivery', 'normal deliveries')} ready, ${counted(failed.ready, 'dead letter')}, ${counted(consumers, 'consumer')}`;
  } finally {
    await inspector.stop();
  }
}

/**
 * Checks whether workers get deliveries, and whether RabbitMQ has lost any, for example because a queue was purged. Such tasks come back
 * when their leases lapse.
 */
async function checkDeliveries(context: CheckContext): Promise<readonly Finding[]> {
  let findings: readonly Finding[] = [];
  const finding = await found('deliveries', async () => {
    findings = await inTime(
      context,
      `${redisAt(context.settings)} or ${rabbitMqAt(context.settings)}`,
      deliveryFindings,
    );
    return '';
  });
  return finding.state === 'ok' ? findings : [finding];
}

async function deliveryFindings(context: CheckContext): Promise<Finding[]> {
  const { stores, letters } = await connectForReplay(once(context));
  try {
    const workers = await stores.roster.workers();
    const without = workers.filter(({ state }) => state === WITHOUT_BROKER);
    if (without.length > 0) {
      const said = `answers, but lets ${counted(without.length, 'worker')} consume nothing. Their logs say why; in a cluster, most nodes must be up`;
      return [{ what: 'RabbitMQ', state: 'problem', said }];
    }
    if (isQueueFull(workers)) return [{ what: 'RabbitMQ', state: 'warning', said: FULL_TEXT }];
    if (areSomeTooLarge(workers)) return [{ what: 'RabbitMQ', state: 'warning', said: TOO_LARGE_TEXT }];
    const stray = await strayReaders(workers, letters);
    if (stray !== undefined) return [{ what: 'RabbitMQ', state: 'warning', said: stray }];
    const missing = await missingDeliveries(workers, { runs: stores.runs, transport: letters });
    if (missing.length === 0) return [];
    const urls = counted(
      missing.reduce((sum, { inFlight }) => sum + inFlight, 0),
      'URL',
    );
    const back = `workers bring them back within a few minutes; at once: ${TRAWL} doctor --release`;
    const said = `has none of ${urls} that it was given, and no worker has any in hand. If a queue was purged, lost or cut short, ${back}`;
    return [{ what: 'RabbitMQ', state: 'warning', said }];
  } finally {
    stores.close();
    await letters.stop();
  }
}

/** Returns options for a single attempt: only whether it works matters. */
export function once({ settings, signal }: CheckContext): ConnectOptions {
  return { settings, log: silentLog, name: NAME, attempts: 1, signal };
}

async function found(what: string, look: () => Promise<string>): Promise<Finding> {
  try {
    return ok(what, await look());
  } catch (error: unknown) {
    if (error instanceof InterruptedError) throw error;
    return { what, state: 'problem', said: problemText(error) };
  }
}

/** Explains a refusal that a server gives in its own words, and leaves any other error as it is. */
export function problemText(error: unknown): string {
  const said = messageOf(error);
  if (said.startsWith('READONLY'))
    return `${said} The server in REDIS_URL is a replica: name its master there, or promote it (redis-cli REPLICAOF NO ONE)`;
  return said;
}

function ok(what: string, said: string): Finding {
  return { what, state: 'ok', said };
}
