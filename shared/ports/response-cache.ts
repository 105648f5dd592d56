import type { FetchedPage } from './fetcher.ts';

/**
 * Keeps successful responses for a short while, so that a page asked for twice is fetched once.
 *
 * It fails open: a cache that can't be reached finds nothing, stores nothing, and never rejects.
 * Implementations: `stores/redis/cache/response-cache.ts`, `stores/sqlite/response-cache.ts`.
 */
export interface ResponseCache {
  get(key: string): Promise<FetchedPage | undefined>;
  /** Keeps a page if it is small enough and this minute's share isn't used up. */
  set(key: string, page: FetchedPage): Promise<void>;
}

/** Bigger bodies are not kept. */
export const MAX_CACHED_BYTES = 256 * 1024;

/** `<url>`, or `<url>#<digest>` when headers or credentials of a run or request vary the response. */
export function cacheKeyOf(url: string, variant?: string): string {
  return variant === undefined ? url : `${url}#${variant}`;
}

/**
 * A cache for a process that sends its own headers to some hosts: their responses have separate keys, which no process
 * without these headers ever asks for.
 */
export function keptApart(cache: ResponseCache, variantOf: (url: string) => string | undefined): ResponseCache {
  return {
    get: (url) => cache.get(cacheKeyOf(url, variantOf(url))),
    set: (url, page) => cache.set(cacheKeyOf(url, variantOf(url)), page),
  };
}
