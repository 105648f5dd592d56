import { hasHook } from '../../../shared/crawler/around/middleware-calls.ts';
import { FILE_STEP } from '../../../shared/crawler/file-step.ts';
import type { FetchedPage } from '../../../shared/ports/fetcher.ts';
import { cacheKeyOf, type ResponseCache } from '../../../shared/ports/response-cache.ts';
import type { RunOptions } from '../../../shared/ports/runs.ts';
import { digestOf, isCacheable } from '../../../shared/task/task/request.ts';
import type { Task } from '../../../shared/task/task/task.ts';
import type { WorkedRun } from '../run-directory.ts';
import { cookiesOf, loginsOf, type Visit } from './visit.ts';

/**
 * Decides which runs read the response cache, and which write to it.
 *
 * | run                            | reads | writes |
 * |--------------------------------|-------|--------|
 * | `dedup: ever`                  | no    | no     |
 * | `dedup: run` (`--fresh`)       | yes   | yes    |
 * | the same, incremental          | no    | yes    |
 *
 * With `dedup: ever` a URL is fetched only once, so nobody would read its cached response. An incremental run must ask the host for the
 * current version. Pages of a session, and of crawlers with a `beforeFetch`, are never shared. Responses to requests with credentials may
 * not be shared (RFC 9111 section 3.5), and only those to GET and HEAD are kept. Files are not cached, since they are large and already on
 * disk.
 */
export class CachedResponses {
  readonly #cache: ResponseCache;

  constructor(cache: ResponseCache) {
    this.#cache = cache;
  }

  /** Returns the page from the cache, if a run with these options may read it there. */
  async find(task: Task, run: Pick<WorkedRun, 'options' | 'crawler'>): Promise<FetchedPage | undefined> {
    if (task.step === FILE_STEP.key || !looks(run.options) || isOwn({ task, run }) || !isCacheable(task.request))
      return undefined;
    return await this.#cache.get(cacheKeyOf(task.url, digestOf(task.request)));
  }

  /** Returns whether a run may use the page found for it, now that its options are certain. */
  serves(options: RunOptions): boolean {
    return looks(options);
  }

  /** Stores a response, if another run could ask for the same URL. */
  async keep(visit: Visit, fetched: FetchedPage): Promise<void> {
    const { url, request, step } = visit.task;
    if (step === FILE_STEP.key) return;
    if (!isAskedAgain(visit.run.options) || isOwn(visit) || !isCacheable(request)) return;
    await this.#cache.set(cacheKeyOf(url, digestOf(request)), fetched);
  }
}

/** Returns whether a page is fetched in a private way: with credentials or cookies, in a session, or through a `beforeFetch`. */
function isOwn(visit: Pick<Visit, 'task' | 'moved'> & { readonly run: Pick<WorkedRun, 'crawler'> }): boolean {
  const { crawler } = visit.run;
  const isCrawlers = crawler.sessionOf(visit.task) !== undefined || hasHook(crawler, 'beforeFetch');
  return isCrawlers || loginsOf(visit) !== undefined || cookiesOf(visit) !== undefined;
}

function looks(options: RunOptions): boolean {
  return isAskedAgain(options) && !options.incremental;
}

function isAskedAgain({ dedup }: RunOptions): boolean {
  return dedup === 'run';
}
