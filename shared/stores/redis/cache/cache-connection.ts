import { Redis } from 'ioredis';
import { systemClock } from '../../../runtime/clock.ts';
import { BatchingRedis, MOST_BETWEEN_TRIES_MS } from '../connection.ts';

/** An answer that takes longer is none, and neither will the next one be sooner: the connection is given up. */
const ANSWER_TIMEOUT_MS = 500;
const CACHE_CONNECT_TIMEOUT_MS = 5_000;

/** What is told about the cache's connection, once per change. */
export interface CacheRedisEvents {
  lost(reason: string): void;
  restored(): void;
}

/**
 * A Redis that isn't essential: the first use connects to it, in the background, again and again for ever, and while it is
 * away, or doesn't answer, every command fails at once. Its configuration isn't checked: it may evict keys.
 */
export function openCacheRedis(url: string, name: string, events: CacheRedisEvents): Redis {
  const redis = new BatchingRedis(url, {
    lazyConnect: true,
    connectionName: name,
    connectTimeout: CACHE_CONNECT_TIMEOUT_MS,
    commandTimeout: ANSWER_TIMEOUT_MS,
    socketTimeout: ANSWER_TIMEOUT_MS,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (times) => Math.min(MOST_BETWEEN_TRIES_MS, 100 * 2 ** Math.min(times, 6)),
  });
  let isLost = false;
  redis.on('error', (error: Error) => {
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

/** Resolves once it is connected, or can't be for now: after a refusal, or 500 ms. Never rejects. */
export async function connectCacheRedis(redis: Redis): Promise<void> {
  const waited = new AbortController();
  const connecting = redis.connect().catch(() => {});
  await Promise.race([connecting, systemClock.sleep(ANSWER_TIMEOUT_MS, waited.signal)]);
  waited.abort();
}

/** Connects to such a Redis, once, and lets it go. Rejects with what is wrong with it. */
export async function tryCacheRedis(url: string, name: string): Promise<void> {
  const redis = new Redis(url, {
    lazyConnect: true,
    connectionName: name,
    connectTimeout: CACHE_CONNECT_TIMEOUT_MS,
    commandTimeout: ANSWER_TIMEOUT_MS,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  let reason: Error | undefined;
  redis.on('error', (error: Error) => {
    reason ??= error;
  });
  try {
    await redis.connect();
    await redis.ping();
  } catch (error: unknown) {
    // What is thrown may say only that the connection is closed.
    throw reason ?? error;
  } finally {
    redis.disconnect();
  }
}
