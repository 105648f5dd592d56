import type { Redis } from 'ioredis';
import type { FetchedPage } from '../../../ports/fetcher.ts';
import { MAX_CACHED_BYTES, type ResponseCache } from '../../../ports/response-cache.ts';
import { readPage, writePage } from '../forms/page-codec.ts';
import type { RedisMemory } from '../memory-watch.ts';
import { type RedisStoreOptions, Scripts } from '../scripts.ts';

interface RedisResponseCacheOptions extends RedisStoreOptions {
  readonly ttlMs: number;
  /** Maximum bytes that all processes together store in one minute. */
  readonly maxBytesPerMinute: number;
  /** The memory of this Redis, if it also has other data: nothing is kept while it is filling up. */
  readonly memory?: Pick<RedisMemory, 'isFull'>;
}

/** The shortest time that a full cache is offered nothing. */
const FULL_REST_MS = 250;

/** The cache of a fleet: a key `content:<url>` per page, kept for a minute or so. */
export class RedisResponseCache implements ResponseCache {
  readonly #redis: Redis;
  readonly #prefix: string;
  readonly #ttlMs: number;
  readonly #maxBytes: number;
  readonly #memory: Pick<RedisMemory, 'isFull'> | undefined;
  readonly #scripts: Scripts;
  readonly #now: () => number;
  /** Nothing is offered before this moment, by this process' clock. */
  #fullUntil = 0;

  constructor({ redis, prefix, ttlMs, maxBytesPerMinute, memory, clock }: RedisResponseCacheOptions) {
    this.#redis = redis;
    this.#prefix = prefix;
    this.#ttlMs = ttlMs;
    this.#maxBytes = maxBytesPerMinute;
    this.#memory = memory;
    this.#scripts = new Scripts({ redis, prefix, clock });
    this.#now = () => clock?.now() ?? performance.now();
  }

  async get(key: string): Promise<FetchedPage | undefined> {
    try {
      const value = await this.#redis.getBuffer(`${this.#prefix}content:${key}`);
      return value === null ? undefined : readPage(value);
    } catch {
      return undefined;
    }
  }

  async set(key: string, page: FetchedPage): Promise<void> {
    if (page.body.byteLength > MAX_CACHED_BYTES || this.#now() < this.#fullUntil) return;
    try {
      if (await this.#memory?.isFull('cache')) return;
      const freeInMs = await this.#scripts.run('cache', key, this.#ttlMs, this.#maxBytes, writePage(page));
      // Room accumulates meanwhile: offering every page to a full cache would cost more than storing it.
      if (Number(freeInMs) > 0) this.#fullUntil = this.#now() + Math.max(FULL_REST_MS, Number(freeInMs));
    } catch {
      // The page was fetched in any case: not storing it costs a later request, nothing else.
    }
  }
}
