import type { FetchedPage } from '../../ports/fetcher.ts';
import { MAX_CACHED_BYTES, type ResponseCache } from '../../ports/response-cache.ts';
import type { Clock } from '../../runtime/clock.ts';

interface LocalResponseCacheOptions {
  readonly clock: Clock;
  readonly ttlMs: number;
  /** Bytes kept at once; the oldest go first. */
  readonly maxBytes: number;
}

/** The cache of one process. It is bounded by what it holds, not by the minute: nobody else shares it. */
export class LocalResponseCache implements ResponseCache {
  readonly #clock: Clock;
  readonly #ttlMs: number;
  readonly #maxBytes: number;
  /** In the order they were kept, which is the order they expire in. */
  readonly #pages = new Map<string, { readonly page: FetchedPage; readonly expiresAt: number }>();
  #bytes = 0;

  constructor({ clock, ttlMs, maxBytes }: LocalResponseCacheOptions) {
    this.#clock = clock;
    this.#ttlMs = ttlMs;
    this.#maxBytes = maxBytes;
  }

  async get(key: string): Promise<FetchedPage | undefined> {
    const kept = this.#pages.get(key);
    return kept !== undefined && kept.expiresAt > this.#clock.now() ? kept.page : undefined;
  }

  async set(key: string, page: FetchedPage): Promise<void> {
    if (page.body.byteLength > MAX_CACHED_BYTES) return;
    this.#delete(key);
    this.#pages.set(key, { page, expiresAt: this.#clock.now() + this.#ttlMs });
    this.#bytes += page.body.byteLength;
    for (const [oldest, { expiresAt }] of this.#pages) {
      if (this.#bytes <= this.#maxBytes && expiresAt > this.#clock.now()) break;
      this.#delete(oldest);
    }
  }

  #delete(key: string): void {
    const kept = this.#pages.get(key);
    if (kept === undefined) return;
    this.#pages.delete(key);
    this.#bytes -= kept.page.body.byteLength;
  }
}
