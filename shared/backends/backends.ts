import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { BatchResults } from '../ports/batch-results.ts';
import type { Biographer } from '../ports/biographer.ts';
import type { StoreMemory } from '../ports/frontier/store-memory.ts';
import type { HostGate, HostLimits } from '../ports/host-gate.ts';
import type { HostOverview } from '../ports/host-overview.ts';
import type { Marks } from '../ports/marks.ts';
import type { ResponseCache } from '../ports/response-cache.ts';
import type { RobotsStore } from '../ports/robots-store.ts';
import type { Roster } from '../ports/roster.ts';
import type { RunOverview } from '../ports/run-overview.ts';
import type { Runs } from '../ports/runs.ts';
import type { DeadLetters, QueueInspector, Transport } from '../ports/transport.ts';
import type { Service } from '../runtime/lifecycle.ts';
import type { Logger } from '../runtime/logger.ts';
import { rabbitmqUrlOf, redisUrlOf } from '../settings/settings.ts';
import type { Settings } from '../settings/table.ts';
import type { FrontierPolicy } from '../stores/policy.ts';
import { HOUR_MS } from '../task/durations.ts';
import { QUEUE_TTL_MS } from '../transports/rabbitmq/topology.ts';
import { answered, COMMAND_ATTEMPTS, connectWithAttempts } from './attempts.ts';
import { lossOf } from './certificates.ts';
import { placeOf } from './place.ts';
import { rabbitMqRefusals, redisRefusals } from './refusals.ts';
import { openRedisCache } from './response-caches.ts';
import { rabbitMqTls, redisTls } from './tls-words.ts';
import type { WholeFrontier } from './whole-frontier.ts';

/** The ports implemented by stores: in Redis for a fleet, in SQLite for one machine. */
export interface Stores {
  readonly frontier: WholeFrontier;
  readonly runs: Runs & RunOverview;
  readonly gate: HostGate & HostLimits;
  readonly hosts: HostOverview;
  readonly marks: Marks;
  readonly biographer: Biographer;
  readonly cache: ResponseCache;
  readonly robots: RobotsStore;
  readonly roster: Roster;
  /** The results of batches. Absent if no other process could wait for them. */
  readonly results?: BatchResults;
  /** Absent if the store is on disk. */
  readonly memory?: StoreMemory;
  /** Rejects if `DEDUP` differs from the form in force. Absent if no other process could use another. */
  readonly checkMarks?: () => Promise<void>;
  /** Rejects if the store's user lacks rights that a fleet needs. Absent if there are no users. */
  readonly checkRights?: () => Promise<void>;
  /**
   * Connects to a response cache that has its own Redis, ahead of its first use. Resolves once connected, or once that turns out
   * to be impossible for now: the cache then connects later. Absent if there is no such cache.
   */
  readonly connectCache?: () => Promise<void>;
  /** Forgets runs that ended long ago. Absent if the store does that by itself. */
  readonly sweep?: () => Promise<number>;
  close(): void;
}

/** Called when the connection to a service is lost, and when it is restored. */
export interface ServiceEvents {
  lost(service: ServiceName, reason: string): void;
  restored(service: ServiceName): void;
  /** Redis has stopped answering on an open connection. Followed by `answering` or `lost`. */
  silent?(): void;
  answering?(): void;
}
export type ServiceName = 'Redis' | 'RabbitMQ';

export interface ConnectOptions {
  readonly settings: Settings;
  readonly log: Logger;
  readonly events?: Partial<ServiceEvents>;
  /** Shown in the lists of connections that RabbitMQ, Redis and Postgres keep. */
  readonly name: string;
  /** Warns if a crash of Redis, as configured, could lose data. Only for processes whose operator can mend it. */
  readonly warnsOfLoss?: boolean;
  /** Waits for a Redis that refuses writes, as long-running processes do. By default, its refusal is an error. */
  readonly waitsForWrites?: boolean;
  /** `Infinity` for a worker, which has nothing else to do. */
  readonly attempts?: number;
  readonly signal?: AbortSignal | undefined;
}

/** An inspector that owns its connection. */
export type OpenInspector = QueueInspector & Pick<Service, 'stop'>;

const GIVE_UP_FLEET_MS = 6 * HOUR_MS;
/** Both connections of a process detect a hanging broker within twice this time. */
const HEARTBEAT_SECONDS = 30;
const PUBLISH_WINDOW = 500;

/** Returns a new worker id for this process: `<hostname>-<8 hex>`. */
export function newWorkerId(): string {
  return `${hostname()
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]/g, '-')}-${randomBytes(4).toString('hex')}`;
}

/** Connects to Redis, with numbered attempts. The error says what to check. */
export async function connectStores(options: ConnectOptions): Promise<Stores> {
  const {
    settings,
    log,
    events,
    name,
    attempts = COMMAND_ATTEMPTS,
    signal,
    warnsOfLoss = false,
    waitsForWrites,
  } = options;
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
    { RedisBatchResults },
    { checkRights },
  ] = await Promise.all([
    import('../stores/redis/connection.ts'),
    import('../stores/redis/frontier.ts'),
    import('../stores/redis/memory-watch.ts'),
    import('../stores/redis/runs.ts'),
    import('../stores/redis/host-overview.ts'),
    import('../stores/redis/marks.ts'),
    import('../stores/redis/biographer.ts'),
    import('../stores/redis/host-gate.ts'),
    import('../stores/redis/cache/robots-store.ts'),
    import('../stores/redis/roster.ts'),
    import('../stores/redis/batch-results.ts'),
    import('../stores/redis/rights/rights.ts'),
  ]);
  const url = redisUrlOf(settings);
  const { keyPrefix: prefix, runRetention } = settings;
  const { tls, words } = redisTls(settings);
  const told = {
    lost: (reason: string) => events?.lost?.('Redis', lossOf(reason, words)),
    restored: () => events?.restored?.('Redis'),
    ...(events?.silent === undefined ? {} : { silent: events.silent }),
    ...(events?.answering === undefined ? {} : { answering: events.answering }),
  };
  const connection = new RedisConnection(url, name, {
    tls,
    events: told,
    log: warnsOfLoss ? log : undefined,
    waitsForWrites,
    checkRights: (redis) => checkRights(redis, prefix),
  });
  try {
    await connectWithAttempts(() => connection.connect(), {
      name: 'Redis',
      where: placeOf(url),
      advice: 'Check REDIS_URL or REDIS_HOST, and that it runs: docker compose up -d redis',
      refusals: redisRefusals(settings),
      ...{ words, probed: { url, tls } },
      attempts,
      log,
      signal,
    });
  } catch (error: unknown) {
    // It may have connected at the very moment of the interruption.
    connection.close();
    throw error;
  }
  const { redis } = connection;
  const memory = new RedisMemory(redis);
  const { cache, connect: connectCache, close: closeCache } = await openRedisCache(redis, { ...options, memory });
  const runs = new RedisRuns({ redis, prefix, marks: settings.dedup });
  return {
    memory,
    frontier: new RedisFrontier({
      redis,
      prefix,
      policy: policyOf(settings, GIVE_UP_FLEET_MS),
      memory,
    }),
    runs,
    gate: new RedisHostGate({ redis, prefix }),
    hosts: new RedisHostOverview({ redis, prefix }),
    marks: new RedisMarks({ redis, prefix }),
    biographer: new RedisBiographer({ redis, prefix }),
    cache,
    robots: new RedisRobotsStore({ redis, prefix }),
    roster: new RedisRoster({ redis, prefix }),
    results: new RedisBatchResults({ redis, prefix }),
    checkMarks: () => runs.checkMarks(),
    checkRights: () => checkRights(redis, prefix),
    connectCache,
    sweep: () => runs.sweep(runRetention),
    close: () => {
      closeCache();
      connection.close();
    },
  };
}

/** Connects to RabbitMQ and declares the queues, with numbered attempts. The error says what to check. */
async function connectTransport(options: ConnectOptions): Promise<Transport & DeadLetters> {
  const { settings, log, events, name } = options;
  const { RabbitMqTransport } = await import('../transports/rabbitmq/transport.ts');
  const url = rabbitmqUrlOf(settings);
  const { tls, words } = rabbitMqTls(settings);
  const transport = new RabbitMqTransport({
    ...{ url, tls },
    prefix: settings.queuePrefix,
    queueType: settings.queueType,
    name,
    heartbeatSeconds: HEARTBEAT_SECONDS,
    window: PUBLISH_WINDOW,
    onLost: (reason) => events?.lost?.('RabbitMQ', lossOf(reason, words)),
    onRestored: () => events?.restored?.('RabbitMQ'),
    onBlocked: (reason) => {
      if (reason === undefined) log.warn({}, 'RabbitMQ accepts messages again');
      else log.warn({ what: reason }, 'RabbitMQ accepts no messages for now:');
    },
    onStalled: (queue, ready) =>
      log.warn({ queue, ready }, 'RabbitMQ delivers none of the ready messages: starting to consume again'),
    onRefusing: (queue) =>
      log.warn(
        { queue },
        'RabbitMQ refuses messages for this queue: publishing on a new channel, in case its policy has changed',
      ),
  });
  await connectToRabbitMq(transport, url, options);
  return transport;
}

async function connectToRabbitMq(connecting: Service, url: string, options: ConnectOptions): Promise<void> {
  const { log, attempts = COMMAND_ATTEMPTS, signal } = options;
  const { tls, words } = rabbitMqTls(options.settings);
  try {
    await connectWithAttempts(() => connecting.start(), {
      name: 'RabbitMQ',
      where: placeOf(url),
      advice: 'Check RABBITMQ_URL or RABBITMQ_HOST, and that it runs: docker compose up -d rabbitmq',
      refusals: rabbitMqRefusals(options.settings),
      ...{ words, probed: { url, tls } },
      attempts,
      log,
      signal,
    });
  } catch (error: unknown) {
    // It may have connected at the very moment of the interruption.
    await connecting.stop();
    throw error;
  }
}

/**
 * Connects to RabbitMQ to inspect its queues, with numbered attempts. The error says what to check. Declares nothing, and opens
 * only one connection.
 *
 * @param options with `asWorker`, also rejects if a worker's connection would fail: for lack of rights, or because a queue exists
 *   with different arguments
 */
export async function connectInspector(
  options: ConnectOptions & { readonly asWorker?: boolean },
): Promise<OpenInspector> {
  const { settings, events, name, asWorker = false } = options;
  const [{ RabbitMqInspector }, { RecoveringConnection }, { topology }, { checkAsWorker }] = await Promise.all([
    import('../transports/rabbitmq/inspector.ts'),
    import('../transports/rabbitmq/recovering-connection.ts'),
    import('../transports/rabbitmq/topology.ts'),
    import('../transports/rabbitmq/declaring.ts'),
  ]);
  const queues = topology(settings.queuePrefix, settings.queueType);
  const url = rabbitmqUrlOf(settings);
  const { tls, words } = rabbitMqTls(settings);
  const connection = new RecoveringConnection({
    ...{ url, tls },
    name,
    heartbeatSeconds: HEARTBEAT_SECONDS,
    build: async ({ model }) => {
      if (asWorker) await checkAsWorker(model, queues);
    },
    events: {
      lost: (reason) => events?.lost?.('RabbitMQ', lossOf(reason, words)),
      restored: () => events?.restored?.('RabbitMQ'),
      blocked: () => {},
    },
  });
  await connectToRabbitMq(connection, url, options);
  return Object.assign(new RabbitMqInspector({ connection, queues }), { stop: () => connection.stop() });
}

/** Returns the memory or disk alarm because of which RabbitMQ accepts no messages; `undefined` if it accepts them. */
export async function brokerAlarm({ settings, name }: ConnectOptions): Promise<string | undefined> {
  const { alarmOf } = await import('../transports/rabbitmq/alarm.ts');
  return await alarmOf(rabbitmqUrlOf(settings), name, rabbitMqTls(settings).tls);
}

/** Connects to both services at once. If one can't be reached, closes the other, which would keep the process alive. */
export async function connectFleet(
  options: ConnectOptions,
): Promise<{ readonly stores: Stores; readonly transport: Transport & DeadLetters }> {
  const { stores, broker } = await connectBoth(options, connectTransport);
  return { stores, transport: broker };
}

/** Connects to both services to replay dead letters. The new tasks go to Redis, and a worker or producer releases them. */
export async function connectForReplay(
  options: ConnectOptions,
): Promise<{ readonly stores: Stores; readonly letters: OpenInspector }> {
  const { stores, broker } = await connectBoth(options, connectInspector);
  return { stores, letters: broker };
}

async function connectBoth<T extends Pick<Service, 'stop'>>(
  options: ConnectOptions,
  connectBroker: (options: ConnectOptions) => Promise<T>,
): Promise<{ readonly stores: Stores; readonly broker: T }> {
  const giveUp = new AbortController();
  const signal = options.signal === undefined ? giveUp.signal : AbortSignal.any([options.signal, giveUp.signal]);
  const connecting = [connectStores({ ...options, signal }), connectBroker({ ...options, signal })] as const;
  try {
    const [stores, broker] = await Promise.all(connecting);
    await answered(checkStores(stores), 'Redis', signal);
    return { stores, broker };
  } catch (error: unknown) {
    giveUp.abort();
    const [stores, broker] = await Promise.allSettled(connecting);
    if (stores.status === 'fulfilled') stores.value.close();
    if (broker.status === 'fulfilled') await broker.value.stop();
    throw error;
  }
}

/** @throws ConfigurationError if a fleet can't work with this store */
export async function checkStores({
  checkRights,
  checkMarks,
}: Pick<Stores, 'checkRights' | 'checkMarks'>): Promise<void> {
  await checkRights?.();
  await checkMarks?.();
}

/** Returns a frontier's policy, from the settings. */
export function policyOf({ hostConcurrency, hostGiveUp }: Settings, giveUpMs: number): FrontierPolicy {
  return {
    hostConcurrency,
    giveUpMs: hostGiveUp ?? giveUpMs,
    priorityTtlMs: QUEUE_TTL_MS.priority,
    normalTtlMs: QUEUE_TTL_MS.normal,
  };
}
