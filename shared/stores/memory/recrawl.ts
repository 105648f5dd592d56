import type { PageVisit } from '../../ports/frontier.ts';
import type { RunOptions } from '../../ports/runs.ts';
import type { KnownPage } from '../../task/task/known-page.ts';
import { MemoryPages, type PageTable } from './pages.ts';

/** What counts here of a run. */
interface RecrawlingRun {
  readonly id: string;
  readonly options: RunOptions;
  readonly taken: Set<string>;
  bytesSaved: number;
}

/** What else counts. */
interface Surroundings {
  /** Those that the run goes by. */
  readonly marks: ReadonlySet<string>;
  readonly openRuns: readonly RecrawlingRun[];
  readonly now: number;
}

/** No task for the page is live in a run that shares its marks. */
const FREE = '-';

/**
 * What incremental runs remember of pages, and when they take a URL again that is marked: the memory form of
 * `lua/pages.lua`, where the rules stand.
 */
export class Recrawl {
  /** By mark: {@link FREE}, or the run that has taken it again. */
  readonly #taken = new Map<string, string>();
  #pages: PageTable = new MemoryPages();

  /** Keeps pages elsewhere from now on. */
  keepIn(pages: PageTable): void {
    this.#pages = pages;
  }

  get(mark: string, now: number): KnownPage | undefined {
    return this.#pages.get(mark, now);
  }

  /** Would an incremental run take a URL? Each once, however often it is offered. */
  isDueNow(
    run: RecrawlingRun,
    { mark, changedAt }: { readonly mark: string; readonly changedAt?: number | undefined },
    { marks, openRuns, now }: Surroundings,
  ): boolean {
    const { dedup, recrawlAfterMs: after } = run.options;
    if (dedup === 'run') {
      if (marks.has(mark)) return false;
      const known = after > 0 ? this.get(mark, now) : undefined;
      return known === undefined || isDue(known, changedAt, after, now);
    }
    if (run.taken.has(mark)) return false;
    if (!marks.has(mark)) return true;
    return isDue(this.get(mark, now), changedAt, after, now) && !this.#isLive(run, mark, openRuns);
  }

  /** Takes it. */
  take(run: RecrawlingRun, mark: string, marks: Set<string>): void {
    if (run.options.dedup === 'ever') {
      if (marks.has(mark)) this.#taken.set(mark, run.id);
      run.taken.add(mark);
    }
    marks.add(mark);
  }

  /** A page was visited. */
  remember(run: RecrawlingRun, mark: string, { askedMsAgo, bytesSaved, ...facts }: PageVisit, now: number): void {
    this.#pages.set(mark, { ...facts, fetchedAt: now - Math.max(0, Math.round(askedMsAgo)) });
    run.bytesSaved += bytesSaved;
    if (run.options.dedup === 'ever') this.#taken.set(mark, FREE);
  }

  /** The mark of a page went: a run that finds it again works on it. */
  lose(mark: string): void {
    this.#taken.delete(mark);
  }

  /** A task was cancelled. `true`: the page had been crawled before, and keeps its mark. */
  free(run: RecrawlingRun, mark: string): boolean {
    if (this.#taken.get(mark) !== run.id) return false;
    this.#taken.set(mark, FREE);
    return true;
  }

  forget(isMeant: (mark: string) => boolean): void {
    this.#pages.forget(isMeant);
    for (const mark of this.#taken.keys()) if (isMeant(mark)) this.#taken.delete(mark);
  }

  #isLive(run: RecrawlingRun, mark: string, openRuns: readonly RecrawlingRun[]): boolean {
    const taken = this.#taken.get(mark);
    if (taken === FREE) return false;
    if (taken !== undefined) return openRuns.some(({ id }) => id === taken);
    return openRuns.some((other) => other !== run && other.options.dedup === 'ever');
  }
}

function isDue(known: KnownPage | undefined, changedAt: number | undefined, after: number, now: number): boolean {
  if (known === undefined) return after > 0;
  return (changedAt !== undefined && changedAt > known.fetchedAt) || (after > 0 && now - known.fetchedAt >= after);
}
