import type { FetchedPage } from './fetcher.ts';

/**
 * Keeps successful responses for a short while, so that a page requested twice is fetched once.
 *
 * It fails open: an unreachable cache finds nothing, stores nothing, and never rejects.
 * Implementations: `stores/redis/cache/response-cache.ts`, `stores/sqlite/response-cache.ts`.
 */
export interface ResponseCache {
  get(key: string): Promise<FetchedPage | undefined>;
  /** Keeps a page if it is small enough and this minute's quota isn't used up. */
  set(key: string, page: FetchedPage): Promise<void>;
}

/** Maximum bytes of a body that is kept. */
export const MAX_CACHED_BYTES = 256 * 1024;

/** Returns `<url>`, or `<url>#<digest>` if the response depends on headers or credentials of a run or request. */
export function cacheKeyOf(url: string, variant?: string): string {
  return variant === undefined ? url : `${url}#${variant}`;
}

/**
 * Returns a cache for a process that sends its own headers to some hosts: their responses get separate keys, which no process
 * without these headers ever reads.
 */
export function keptApart(cache: ResponseCache, variantOf: (url: string) => string | undefined): ResponseCache {
  return {
    get: (url) => cache.get(cacheKeyOf(url, variantOf(url))),
    set: (url, page) => cache.set(cacheKeyOf(url, variantOf(url)), page),
  };
}
