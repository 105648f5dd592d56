import { Redis } from 'ioredis';
import type { ClientTls } from '../../../runtime/client-tls.ts';
import { systemClock } from '../../../runtime/clock.ts';
import { BatchingRedis } from '../client/batching-redis.ts';
import { isOfSelect, MOST_BETWEEN_TRIES_MS } from '../connection.ts';
import { serverProblem } from '../server-problems.ts';
import { tlsOf } from '../tls.ts';

/** Longest wait for an answer. Since the next one would be no faster, the connection is then dropped. */
const ANSWER_TIMEOUT_MS = 500;
const CACHE_CONNECT_TIMEOUT_MS = 5_000;

/** Reports about the cache's connection, once per change. */
interface CacheRedisEvents {
  lost(reason: string): void;
  restored(): void;
}

/**
 * Opens a Redis that isn't essential. The first use connects in the background, and retries for ever. While the server is
 * unreachable or doesn't answer, every command fails at once. Its configuration isn't checked: it may evict keys.
 */
export function openCacheRedis(url: string, name: string, events: CacheRedisEvents, tls?: ClientTls): Redis {
  const redis = new BatchingRedis(url, {
    ...tlsOf(url, tls),
    lazyConnect: true,
    connectionName: name,
    connectTimeout: CACHE_CONNECT_TIMEOUT_MS,
    commandTimeout: ANSWER_TIMEOUT_MS,
    socketTimeout: ANSWER_TIMEOUT_MS,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (times) => Math.min(MOST_BETWEEN_TRIES_MS, 100 * 2 ** Math.min(times, 6)),
  });
  redis.on('connecting', () => tls?.renew());
  let isLost = false;
  redis.on('error', (error: Error) => {
    // If the server refuses the chosen database, ioredis would work in database 0.
    if (isOfSelect(error)) redis.hangUp(error.message);
    if (isLost) return;
    isLost = true;
    events.lost(error.message);
  });
  redis.on('close', () => {
    if (isLost || redis.status === 'end') return;
    isLost = true;
    events.lost('the connection was closed');
  });
  redis.on('ready', () => {
    if (isLost) events.restored();
    isLost = false;
  });
  return redis;
}

/** Resolves once connected, after a refusal, or after 500 ms, whichever comes first. Never rejects. */
export async function connectCacheRedis(redis: Redis): Promise<void> {
  const waited = new AbortController();
  const connecting = redis.connect().catch(() => {});
  await Promise.race([connecting, systemClock.sleep(ANSWER_TIMEOUT_MS, waited.signal)]);
  waited.abort();
}

/** Connects to such a Redis once, and disconnects again. Rejects with the reason if it can't be used. */
export async function tryCacheRedis(url: string, name: string, tls?: ClientTls): Promise<void> {
  const redis = new Redis(url, {
    ...tlsOf(url, tls),
    lazyConnect: true,
    connectionName: name,
    connectTimeout: CACHE_CONNECT_TIMEOUT_MS,
    commandTimeout: ANSWER_TIMEOUT_MS,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  let reason: unknown;
  redis.on('error', (error: Error) => {
    reason ??= error;
  });
  try {
    await redis.connect();
    // The user of a cache may lack the right to ask for that.
    const unfit = await serverProblem(redis).catch(() => redis.ping().then(() => undefined));
    if (unfit !== undefined) reason = new Error(unfit.replace(/\.$/, ''));
    if (reason !== undefined) throw reason;
  } catch (error: unknown) {
    // The thrown error may say only that the connection is closed.
    throw reason ?? error;
  } finally {
    redis.disconnect();
  }
}
