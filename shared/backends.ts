import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { Biographer } from './biographer.ts';
import { systemClock } from './clock.ts';
import { COMMAND_ATTEMPTS, connectWithAttempts } from './connections/attempts.ts';
import type { Fetcher } from './fetcher.ts';
import type { AttemptHistory, Claims, Frontier, HandOvers, QueuedLeases } from './frontier.ts';
import type { FrontierPolicy } from './frontiers/policy.ts';
import type { HostGate } from './host-gate.ts';
import type { HostOverview } from './host-overview.ts';
import type { Logger } from './logger.ts';
import type { Marks } from './marks.ts';
import type { ResponseCache } from './response-cache.ts';
import type { RobotsStore } from './robots-store.ts';
import type { Roster } from './roster.ts';
import type { Runs } from './runs.ts';
import { rabbitmqUrlOf, redisUrlOf, userAgentOf } from './settings.ts';
import type { Settings } from './settings-table.ts';
import type { HostHeaders } from './task/host-headers.ts';
import type { ProxyAddress } from './task/proxy-list.ts';
import type { DeadLetters, Transport } from './transport.ts';
import { QUEUE_TTL_MS } from './transports/rabbitmq-topology.ts';

/** What holds the frontier: in Redis for a fleet, in memory for one process. */
export interface Stores {
  readonly frontier: Frontier & AttemptHistory & Claims & QueuedLeases & HandOvers;
  readonly runs: Runs;
  readonly gate: HostGate;
  readonly hosts: HostOverview;
  readonly marks: Marks;
  readonly biographer: Biographer;
  readonly cache: ResponseCache;
  readonly robots: RobotsStore;
  readonly roster: Roster;
  /** Refuses a `DEDUP` that differs from the one in force; left out where nobody else could have another. */
  readonly checkMarks?: () => Promise<void>;
  /** Forgets runs that ended long ago; left out where a process forgets them by ending. */
  readonly sweep?: () => Promise<number>;
  close(): void;
}

/** Told about services that come and go. */
export interface ServiceEvents {
  lost(service: ServiceName, reason: string): void;
  restored(service: ServiceName): void;
}
export type ServiceName = 'Redis' | 'RabbitMQ';

export interface ConnectOptions {
  readonly settings: Settings;
  readonly log: Logger;
  readonly events?: Partial<ServiceEvents>;
  /** Shown in the lists of connections that RabbitMQ, Redis and Postgres keep. */
  readonly name: string;
  /** `Infinity` for a worker, which has nothing else to do. */
  readonly attempts?: number;
  readonly signal?: AbortSignal | undefined;
}

const GIVE_UP_FLEET_MS = 6 * 3_600_000;
export const MEGABYTE = 1_000_000;
/** Both connections of a process notice a broker that hangs within twice this. */
const HEARTBEAT_SECONDS = 30;
const PUBLISH_WINDOW = 500;
const TRY_PROXY_MS = 5_000;

/** The id of this process among workers: `<hostname>-<4 hex>`. */
export function newWorkerId(): string {
  return `${hostname()
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]/g, '-')}-${randomBytes(2).toString('hex')}`;
}

/** Connects to Redis: numbered attempts, then what to check. */
export async function connectStores(options: ConnectOptions): Promise<Stores> {
  const { settings, log, events, name, attempts = COMMAND_ATTEMPTS, signal } = options;
  const [
    { RedisConnection },
    { RedisFrontier },
    { RedisMemory },
    { RedisRuns },
    { RedisHostOverview },
    { RedisMarks },
    { RedisBiographer },
    { RedisHostGate },
    { RedisRobotsStore },
    { RedisRoster },
  ] = await Promise.all([
    import('./connections/redis.ts'),
    import('./frontiers/redis/frontier.ts'),
    import('./frontiers/redis/memory-watch.ts'),
    import('./frontiers/redis/runs.ts'),
    import('./frontiers/redis/host-overview.ts'),
    import('./frontiers/redis/marks.ts'),
    import('./frontiers/redis/biographer.ts'),
    import('./host-gates/redis.ts'),
    import('./robots-stores/redis.ts'),
    import('./rosters/redis.ts'),
  ]);
  const url = redisUrlOf(settings);
  const told = {
    lost: (reason: string) => events?.lost?.('Redis', reason),
    restored: () => events?.restored?.('Redis'),
  };
  const connection = new RedisConnection(url, name, told, log);
  try {
    await connectWithAttempts(() => connection.connect(), {
      name: 'Redis',
      where: placeOf(url),
      advice: 'Check REDIS_URL or REDIS_HOST, and that it runs: docker compose up -d redis',
      attempts,
      log,
      signal,
    });
  } catch (error: unknown) {
    // It may have connected just as it was told to stop.
    connection.close();
    throw error;
  }
  const { redis } = connection;
  const { keyPrefix: prefix, runRetention } = settings;
  const { cache, close: closeCache } = await openRedisCache(redis, options);
  const runs = new RedisRuns({ redis, prefix, marks: settings.dedup });
  return {
    frontier: new RedisFrontier({
      redis,
      prefix,
      policy: policyOf(settings, GIVE_UP_FLEET_MS),
      memory: new RedisMemory(redis),
    }),
    runs,
    gate: new RedisHostGate({ redis, prefix }),
    hosts: new RedisHostOverview({ redis, prefix }),
    marks: new RedisMarks({ redis, prefix }),
    biographer: new RedisBiographer({ redis, prefix }),
    cache,
    robots: new RedisRobotsStore({ redis, prefix }),
    roster: new RedisRoster({ redis, prefix }),
    checkMarks: () => runs.checkMarks(),
    sweep: () => runs.sweep(runRetention),
    close: () => {
      closeCache();
      connection.close();
    },
  };
}

/** Connects to RabbitMQ and declares the queues: numbered attempts, then what to check. */
export async function connectTransport(options: ConnectOptions): Promise<Transport & DeadLetters> {
  const { settings, log, events, name, attempts = COMMAND_ATTEMPTS, signal } = options;
  const { RabbitMqTransport } = await import('./transports/rabbitmq.ts');
  const url = rabbitmqUrlOf(settings);
  const transport = new RabbitMqTransport({
    url,
    prefix: settings.queuePrefix,
    queueType: settings.queueType,
    name,
    heartbeatSeconds: HEARTBEAT_SECONDS,
    window: PUBLISH_WINDOW,
    onLost: (reason) => events?.lost?.('RabbitMQ', reason),
    onRestored: () => events?.restored?.('RabbitMQ'),
    onBlocked: (reason) => {
      if (reason === undefined) log.warn({}, 'RabbitMQ takes messages again');
      else log.warn({ what: reason }, 'RabbitMQ takes no messages for now:');
    },
  });
  try {
    await connectWithAttempts(() => transport.start(), {
      name: 'RabbitMQ',
      where: placeOf(url),
      advice: 'Check RABBITMQ_URL or RABBITMQ_HOST, and that it runs: docker compose up -d rabbitmq',
      attempts,
      log,
      signal,
    });
  } catch (error: unknown) {
    // It may have connected just as it was told to stop.
    await transport.stop();
    throw error;
  }
  return transport;
}

/** Connects to both services at once. When one of them can't be had, the other is let go: it would keep the process up. */
export async function connectFleet(
  options: ConnectOptions,
): Promise<{ readonly stores: Stores; readonly transport: Transport & DeadLetters }> {
  const giveUp = new AbortController();
  const signal = options.signal === undefined ? giveUp.signal : AbortSignal.any([options.signal, giveUp.signal]);
  const connecting = [connectStores({ ...options, signal }), connectTransport({ ...options, signal })] as const;
  try {
    const [stores, transport] = await Promise.all(connecting);
    await stores.checkMarks?.();
    return { stores, transport };
  } catch (error: unknown) {
    giveUp.abort();
    const [stores, transport] = await Promise.allSettled(connecting);
    if (stores.status === 'fulfilled') stores.value.close();
    if (transport.status === 'fulfilled') await transport.value.stop();
    throw error;
  }
}

interface FetcherOptions {
  readonly settings: Settings;
  readonly version: string;
  readonly hostHeaders: HostHeaders;
  readonly log: Logger;
}

/** The fetcher, with the deployment's limits, its address guard, and proxies of this process' own. */
export async function openFetcher({ settings, version, hostHeaders, log }: FetcherOptions): Promise<Fetcher> {
  const { GotFetcher } = await import('./fetchers/got.ts');
  return new GotFetcher({
    timeoutMs: settings.fetchTimeout,
    maxRedirects: settings.maxRedirects,
    userAgent: userAgentOf(settings, version),
    allowedPrivate: settings.privateHosts,
    hostHeaders,
    ...(settings.proxies.length === 0 ? {} : { proxies: await openRotation(settings.proxies, log) }),
  });
}

async function openRotation(
  proxies: readonly ProxyAddress[],
  log: Logger,
): Promise<import('./fetchers/proxies/rotation.ts').Rotation> {
  const { Rotation } = await import('./fetchers/proxies/rotation.ts');
  const onRest = (_: ProxyAddress, error: string, restMs: number): void =>
    log.warn({ error, seconds: restMs / 1_000 }, 'a proxy rests:');
  return new Rotation({ proxies, clock: systemClock, onRest });
}

/** Connects to a proxy, and lets it go. Rejects with what is wrong with it. */
export async function tryProxy(proxy: ProxyAddress): Promise<void> {
  const { connectToProxy } = await import('./fetchers/proxies/tunnel.ts');
  const socket = await connectToProxy(proxy, { signal: new AbortController().signal, phaseMs: TRY_PROXY_MS });
  socket.destroy();
}

/** Keeps nothing. */
export const noCache: ResponseCache = { get: async () => undefined, set: async () => {} };

/** The cache of a fleet, and how to let go of it: in the frontier's Redis, or in one of its own. */
async function openRedisCache(
  redis: import('ioredis').Redis,
  { settings, log, name }: ConnectOptions,
): Promise<{ readonly cache: ResponseCache; close(): void }> {
  const { keyPrefix: prefix, cacheTtl: ttlMs, cacheMaxMb, cacheRedisUrl } = settings;
  if (ttlMs === 0) return { cache: noCache, close: () => {} };
  const { RedisResponseCache } = await import('./response-caches/redis.ts');
  const limits = { prefix, ttlMs, maxBytesPerMinute: cacheMaxMb * MEGABYTE };
  if (cacheRedisUrl === undefined) return { cache: new RedisResponseCache({ redis, ...limits }), close: () => {} };
  const { openCacheRedis } = await import('./connections/cache-redis.ts');
  const what = `the response cache at ${placeOf(cacheRedisUrl)}`;
  const own = openCacheRedis(cacheRedisUrl, `${name} cache`, {
    lost: (error) => log.warn({ what, error }, 'connection lost, going on without:'),
    restored: () => log.warn({ what }, 'connected again:'),
  });
  return { cache: new RedisResponseCache({ redis: own, ...limits }), close: () => own.disconnect() };
}

/** Connects to a response cache of its own, and lets it go. Rejects with what is wrong with it. */
export async function tryCache(url: string, name: string): Promise<void> {
  const { tryCacheRedis } = await import('./connections/cache-redis.ts');
  await tryCacheRedis(url, name);
}

/** What a frontier goes by. */
export function policyOf({ hostConcurrency, hostGiveUp }: Settings, giveUpMs: number): FrontierPolicy {
  return {
    hostConcurrency,
    giveUpMs: hostGiveUp ?? giveUpMs,
    priorityTtlMs: QUEUE_TTL_MS.priority,
    normalTtlMs: QUEUE_TTL_MS.normal,
  };
}

/** Host and port of a URL, without its credentials. */
export function placeOf(url: string): string {
  return new URL(url).host;
}
