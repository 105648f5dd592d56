import type { FetchedPage } from '../../../shared/ports/fetcher.ts';
import { cacheKeyOf, type ResponseCache } from '../../../shared/ports/response-cache.ts';
import type { RunOptions } from '../../../shared/ports/runs.ts';
import type { Task } from '../../../shared/task/task/task.ts';
import { loginsOf, type Visit } from './visit.ts';

/**
 * The response cache as runs use it.
 *
 * | run                            | looks | keeps |
 * |--------------------------------|-------|-------|
 * | `dedup: ever`                  | no    | no    |
 * | `dedup: run` (`--fresh`)       | yes   | yes   |
 * | the same, incremental          | no    | yes   |
 *
 * A URL that is taken once and never again is asked for once: nobody would read what is kept of it. An incremental run asks
 * what the host has now. What is asked for with credentials is nobody else's (RFC 9111 section 3.5).
 */
export class CachedResponses {
  readonly #cache: ResponseCache;

  constructor(cache: ResponseCache) {
    this.#cache = cache;
  }

  /** The page, if a run with these options may have it from the cache. */
  async find(task: Task, options: RunOptions): Promise<FetchedPage | undefined> {
    if (!looks(options) || task.logins !== undefined) return undefined;
    return await this.#cache.get(cacheKeyOf(task.url));
  }

  /** May a page that was found for a run be used by it, now that its options are known for sure? */
  serves(options: RunOptions): boolean {
    return looks(options);
  }

  /** Keeps what the host answered, if a run could ask for it again. */
  async keep(visit: Visit, fetched: FetchedPage): Promise<void> {
    if (!isAskedAgain(visit.run.options) || loginsOf(visit) !== undefined) return;
    await this.#cache.set(cacheKeyOf(visit.task.url), fetched);
  }
}

function looks(options: RunOptions): boolean {
  return isAskedAgain(options) && !options.incremental;
}

function isAskedAgain({ dedup }: RunOptions): boolean {
  return dedup === 'run';
}
