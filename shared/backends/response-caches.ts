import type { ResponseCache } from '../ports/response-cache.ts';
import { systemClock } from '../runtime/clock.ts';
import { messageOf } from '../runtime/errors.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Settings } from '../settings/table.ts';
import { certificateProblem, lossOf } from './certificates.ts';
import { placeOf } from './place.ts';
import { probedReason } from './tls-probe.ts';
import { redisTls } from './tls-words.ts';

const FLEET_CACHE_TTL_MS = 60_000;
const MEGABYTE = 1_000_000;

interface RedisCacheOptions {
  readonly settings: Settings;
  readonly log: Logger;
  /** Shown in the list of connections that Redis keeps. */
  readonly name: string;
  /** The memory of the frontier's Redis. */
  readonly memory: import('../stores/redis/memory-watch.ts').RedisMemory;
}

/** A cache that keeps nothing. */
const noCache: ResponseCache = { get: async () => undefined, set: async () => {} };

/** Opens the cache of a fleet, in the frontier's Redis or in a separate one. */
export async function openRedisCache(
  redis: import('ioredis').Redis,
  { settings, log, name, memory }: RedisCacheOptions,
): Promise<{ readonly cache: ResponseCache; connect(): Promise<void>; close(): void }> {
  const { keyPrefix: prefix, cacheTtl: ttlMs = FLEET_CACHE_TTL_MS, cacheMaxMb, cacheRedisUrl } = settings;
  const nothingOfItsOwn = { connect: async () => {}, close: () => {} };
  if (ttlMs === 0) return { cache: noCache, ...nothingOfItsOwn };
  const { RedisResponseCache } = await import('../stores/redis/cache/response-cache.ts');
  const limits = { prefix, ttlMs, maxBytesPerMinute: cacheMaxMb * MEGABYTE };
  if (cacheRedisUrl === undefined)
    return { cache: new RedisResponseCache({ redis, memory, ...limits }), ...nothingOfItsOwn };
  const { connectCacheRedis, openCacheRedis } = await import('../stores/redis/cache/cache-connection.ts');
  const what = `the response cache at ${placeOf(cacheRedisUrl)}`;
  const { tls, words } = redisTls(settings);
  const events = {
    lost: (reason: string) =>
      log.warn({ what, error: lossOf(reason, words) }, 'connection lost, continuing without it:'),
    restored: () => log.warn({ what }, 'connected again:'),
  };
  const own = openCacheRedis(cacheRedisUrl, `${name} cache`, events, tls);
  return {
    cache: new RedisResponseCache({ redis: own, ...limits }),
    connect: () => connectCacheRedis(own),
    close: () => own.disconnect(),
  };
}

/** Connects to a response cache's own Redis, and disconnects again. Rejects with the problem if there is one. */
export async function tryCache(url: string, name: string, settings: Settings): Promise<void> {
  const { tryCacheRedis } = await import('../stores/redis/cache/cache-connection.ts');
  const { tls, words } = redisTls(settings);
  try {
    await tryCacheRedis(url, name, tls);
  } catch (error: unknown) {
    const said = await probedReason(messageOf(error), { url, tls });
    const problem = certificateProblem(said, { ...words, address: 'CACHE_REDIS_URL' });
    throw problem === undefined ? error : new Error(problem, { cause: error });
  }
}

/** Opens the cache of one process. It keeps responses only if `CACHE_TTL` is set, since a crawl requests each URL once. */
export async function openLocalCache({ cacheTtl = 0, cacheMaxMb }: Settings): Promise<ResponseCache> {
  if (cacheTtl === 0) return noCache;
  const { LocalResponseCache } = await import('../stores/sqlite/response-cache.ts');
  return new LocalResponseCache({ clock: systemClock, ttlMs: cacheTtl, maxBytes: cacheMaxMb * MEGABYTE });
}
