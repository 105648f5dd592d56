import type { FetchedPage } from '../../ports/fetcher.ts';
import { MAX_CACHED_BYTES, type ResponseCache } from '../../ports/response-cache.ts';
import type { Clock } from '../../runtime/clock.ts';
import { ExpiringCache } from '../../runtime/collections/expiring-cache.ts';

interface LocalResponseCacheOptions {
  readonly clock: Clock;
  readonly ttlMs: number;
  /** Maximum bytes kept at once; the least recently used page goes first. */
  readonly maxBytes: number;
}

/** Expired pages, which only waste memory, are dropped this many times per `ttlMs`. */
const SWEEPS = 4;

/** The cache of one process. It is bounded by its size, not per minute: no other process shares it. */
export class LocalResponseCache implements ResponseCache {
  readonly #clock: Clock;
  readonly #ttlMs: number;
  readonly #pages: ExpiringCache<FetchedPage>;
  #sweepAt = 0;

  constructor({ clock, ttlMs, maxBytes }: LocalResponseCacheOptions) {
    this.#clock = clock;
    this.#ttlMs = ttlMs;
    this.#pages = new ExpiringCache({ clock, maxSize: maxBytes });
  }

  async get(key: string): Promise<FetchedPage | undefined> {
    return this.#pages.get(key);
  }

  async set(key: string, page: FetchedPage): Promise<void> {
    const bytes = page.body.byteLength;
    if (bytes > MAX_CACHED_BYTES) return;
    this.#sweep();
    // No entry may have the size 0.
    this.#pages.keep(key, page, this.#ttlMs, Math.max(1, bytes));
  }

  #sweep(): void {
    const now = this.#clock.monotonic();
    if (now < this.#sweepAt) return;
    this.#sweepAt = now + this.#ttlMs / SWEEPS;
    this.#pages.purgeStale();
  }
}
