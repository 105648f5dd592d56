import type { PageVisit } from '../../../ports/frontier/frontier.ts';
import { DAY_MS } from '../../../task/durations.ts';
import { type KnownPage, PAGE_RETENTION_MS } from '../../../task/task/known-page.ts';
import type { LocalDatabase } from '../database/database.ts';
import { MARK, SHARED } from '../database/schema.ts';
import type { Discovery, MarkTable } from './rows/mark-table.ts';
import type { RunRow } from './rows/run-rows.ts';
import { optionsOf } from './run-options.ts';

/** The part of a run that matters here. */
type RecrawlingRun = Pick<RunRow, 'n' | 'options'>;

/** The number that stands for no run. */
const NOBODY = 0;

/** What incremental runs remember of pages, and when they take a marked URL again; see `stores/redis/lua/shared/pages.lua`. */
export class Recrawl {
  readonly #database: LocalDatabase;
  readonly #marks: MarkTable;

  constructor(database: LocalDatabase, marks: MarkTable) {
    this.#database = database;
    this.#marks = marks;
  }

  get(mark: string, now: number): KnownPage | undefined {
    const row = this.#database.get<{ page: string; fetchedAt: number }>(
      'SELECT page, fetchedAt FROM pages WHERE mark = ?',
      mark,
    );
    // Not if it was fetched by a clock that was days ahead: nothing would count as changed since then.
    if (row === undefined || now - row.fetchedAt >= PAGE_RETENTION_MS || row.fetchedAt - now > DAY_MS) return undefined;
    return { ...(JSON.parse(row.page) as Omit<KnownPage, 'fetchedAt'>), fetchedAt: row.fetchedAt };
  }

  /** Would an incremental run take a URL? It takes each only once, however often it is offered. */
  isDueNow(
    run: RecrawlingRun,
    { mark, changedAt }: { readonly mark: string; readonly changedAt?: number | undefined },
    openRuns: () => readonly RecrawlingRun[],
    now: number,
  ): boolean {
    const { dedup, recrawlAfterMs: after } = optionsOf(run);
    if (dedup === 'run') {
      if (this.#marks.has(run.n, mark, MARK.taken)) return false;
      const known = after > 0 ? this.get(mark, now) : undefined;
      return known === undefined || isDue(known, changedAt, after, now);
    }
    if (this.#marks.has(run.n, mark, MARK.visited)) return false;
    if (!this.#marks.has(SHARED, mark, MARK.taken)) return true;
    return isDue(this.get(mark, now), changedAt, after, now) && !this.#isLive(run, mark, openRuns());
  }

  /** Has the run itself taken a URL? With shared marks, known only of URLs taken by {@link take} or noted by {@link note}. */
  isOwn(run: RecrawlingRun, mark: string): boolean {
    return this.#marks.has(run.n, mark, optionsOf(run).dedup === 'run' ? MARK.taken : MARK.visited);
  }

  note(run: RecrawlingRun, mark: string, found: Discovery): void {
    if (optionsOf(run).dedup === 'ever') this.#marks.add(run.n, mark, MARK.visited, found);
  }

  /** Takes a URL for a task, even one that is already marked. */
  take(run: RecrawlingRun, mark: string, found: Discovery & { readonly task: number }): void {
    if (optionsOf(run).dedup === 'run') {
      this.#marks.add(run.n, mark, MARK.taken, found);
      return;
    }
    if (!this.#marks.add(SHARED, mark, MARK.taken, found)) this.#marks.takeAgain(mark, run.n, found.task);
    this.note(run, mark, found);
  }

  /** Remembers a page that was visited. */
  remember(run: RecrawlingRun, mark: string, { askedMsAgo, bytesSaved, ...facts }: PageVisit, now: number): void {
    this.#database.run(
      'INSERT INTO pages (mark, fetchedAt, page) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET fetchedAt = excluded.fetchedAt, page = excluded.page',
      ...[mark, now - Math.max(0, Math.round(askedMsAgo)), JSON.stringify(facts)],
    );
    if (optionsOf(run).dedup === 'ever') this.#marks.takeAgain(mark, NOBODY);
  }

  /** Frees the mark of a cancelled task. Returns `true` if its page was crawled before, so that the mark stays. */
  free(run: Pick<RecrawlingRun, 'n'>, mark: string): boolean {
    if (this.#marks.takenAgainBy(mark) !== run.n) return false;
    this.#marks.takeAgain(mark, NOBODY);
    return true;
  }

  #isLive(run: RecrawlingRun, mark: string, openRuns: readonly RecrawlingRun[]): boolean {
    const taken = this.#marks.takenAgainBy(mark);
    if (taken === NOBODY) return false;
    if (taken !== undefined) return openRuns.some(({ n }) => n === taken);
    return openRuns.some((other) => other.n !== run.n && optionsOf(other).dedup === 'ever');
  }
}

function isDue(known: KnownPage | undefined, changedAt: number | undefined, after: number, now: number): boolean {
  if (known === undefined) return after > 0;
  return (changedAt !== undefined && changedAt > known.fetchedAt) || (after > 0 && now - known.fetchedAt >= after);
}
