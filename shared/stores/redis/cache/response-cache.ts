import type { Redis } from 'ioredis';
import type { FetchedPage } from '../../../ports/fetcher.ts';
import { MAX_CACHED_BYTES, type ResponseCache } from '../../../ports/response-cache.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { readPage, writePage } from '../page-codec.ts';
import { Scripts } from '../scripts.ts';

interface RedisResponseCacheOptions {
  readonly redis: Redis;
  readonly prefix: string;
  readonly ttlMs: number;
  /** Bytes of all processes together that may be stored in one minute. */
  readonly maxBytesPerMinute: number;
  /** See {@link Scripts}. */
  readonly clock?: Pick<Clock, 'now'>;
}

/** How long a cache that was full is left alone. */
const FULL_REST_MS = 250;

/** The cache of a fleet: `content:<url>`, each for a minute or so. */
export class RedisResponseCache implements ResponseCache {
  readonly #redis: Redis;
  readonly #prefix: string;
  readonly #ttlMs: number;
  readonly #maxBytes: number;
  readonly #scripts: Scripts;
  readonly #now: () => number;
  /** Until then nothing is offered, by this process' time. */
  #fullUntil = 0;

  constructor({ redis, prefix, ttlMs, maxBytesPerMinute, clock }: RedisResponseCacheOptions) {
    this.#redis = redis;
    this.#prefix = prefix;
    this.#ttlMs = ttlMs;
    this.#maxBytes = maxBytesPerMinute;
    this.#scripts = new Scripts(redis, prefix, clock);
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
      const freeInMs = await this.#scripts.run('cache', key, this.#ttlMs, this.#maxBytes, writePage(page));
      // Room gathers while nobody asks: to offer every page to a full cache would cost more than keeping it.
      if (Number(freeInMs) > 0) this.#fullUntil = this.#now() + Math.max(FULL_REST_MS, Number(freeInMs));
    } catch {
      // The page was fetched: that it isn't kept costs a request later, nothing else.
    }
  }
}
