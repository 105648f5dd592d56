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
 * | run                            | looks | keeps |
 * |--------------------------------|-------|-------|
 * | `dedup: ever`                  | no    | no    |
 * | `dedup: run` (`--fresh`)       | yes   | yes   |
 * | the same, incremental          | no    | yes   |
 *
 * With `dedup: ever` a URL is fetched only once, so nobody would read its cached response. An incremental run must ask the
 * host for the current version. Pages of a session, and of crawlers
 * with a `beforeFetch`, are never shared. Responses to requests with credentials may not be shared (RFC 9111 section 3.5), and only
 * those to GET and HEAD are kept. Nor are files: they are large, and on the disk already.
 */
export class CachedResponses {
  readonly #cache: ResponseCache;

  constructor(cache: ResponseCache) {
    this.#cache = cache;
  }

  /** The page, if a run with these options may have it from the cache. */
  async find(task: Task, run: Pick<WorkedRun, 'options' | 'crawler'>): Promise<FetchedPage | undefined> {
    if (task.step === FILE_STEP.key || !looks(run.options) || isOwn({ task, run }) || !isCacheable(task.request))
      return undefined;
    return await this.#cache.get(cacheKeyOf(task.url, digestOf(task.request)));
  }

  /** May a run use the page that was found for it, now that its options are certain? */
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

/** Is a page fetched in a way of its own: with credentials or cookies, or as its crawler's session or middleware has it? */
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
