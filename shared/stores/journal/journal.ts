import { rmSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import type { RunJournal } from '../../ports/journal.ts';
import type { RunProgress, RunState } from '../../ports/runs.ts';
import type { LineFile } from '../../runtime/line-file.ts';
import type { EndOutcome, StoredTask } from '../memory/store.ts';
import { beginningLine, endedLine, endLine, line, NONE, retryLine, taskLine } from './lines.ts';
import type { FileLock } from './lock.ts';
import type { Replayed } from './replay.ts';

/** A journal has the credentials of URLs, which records leave out. */
export const JOURNAL_MODE = 0o600;
/** Between two `fsync` of a journal that was written to. */
const SYNC_EVERY_MS = 1_000;

/** What a journal is written on with. */
export interface JournalParts extends Replayed {
  /** Open for writing, with its first lines in it. */
  readonly file: LineFile;
  readonly lock: FileLock;
  /** Brings to the disk what the journal speaks of, before the journal itself. */
  readonly syncFirst: () => Promise<void>;
}

/**
 * A journal that is being written. Its lines are in the order of the calls; each call resolves when its lines are written,
 * which a crash of this process then no longer loses. After a line that could not be written it writes none.
 */
export class Journal implements RunJournal {
  readonly #parts: JournalParts;
  readonly #failure = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #openedAt = performance.now();
  #tasks: number;
  /** Offers of producers that were known, since one of them was done. */
  #knownOfSeeds = 0;
  /** The same of pages that are in flight, by the number of their task. */
  readonly #knownOfPages = new Map<number, number>();
  #lastWrite: Promise<void> | undefined;
  #syncing: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(parts: JournalParts) {
    this.#parts = parts;
    this.#tasks = parts.tasks;
    this.#timer = setInterval(() => void this.sync(), SYNC_EVERY_MS).unref();
  }

  get run(): string {
    return this.#parts.beginning.run;
  }

  get path(): string {
    return this.#parts.file.path;
  }

  get isSealed(): boolean {
    return this.#parts.isSealed;
  }

  /** The session that writes it, from 1. */
  get session(): number {
    return this.#parts.sessions;
  }

  get failure(): AbortSignal {
    return this.#failure.signal;
  }

  /** Uses up what the offers of a source may find known without being duplicates; 0 is the seeds, else the parent's number. */
  useCredits(parent: number, marks: Iterable<string>): number {
    return this.#parts.credits.use(parent, marks);
  }

  /** Tasks were taken, and so many others of the offer were known. */
  offered(parent: number, taken: readonly StoredTask[], known: number): Promise<void> {
    if (parent === 0) this.#knownOfSeeds += known;
    else if (known > 0) this.#knownOfPages.set(parent, (this.#knownOfPages.get(parent) ?? 0) + known);
    let lines = '';
    for (const task of taken) {
      task.number = ++this.#tasks;
      lines += taskLine(task, parent, this.#parts.begunAt);
    }
    return this.#append(lines);
  }

  ended(task: StoredTask, outcome: EndOutcome, bytes: number, saved = 0): Promise<void> {
    const { number } = task;
    const known = this.#knownOfPages.get(number) ?? 0;
    if (known > 0) this.#knownOfPages.delete(number);
    return this.#append(endLine(number, outcome, bytes, known, saved));
  }

  retried({ number }: StoredTask, bytes: number, notBefore: number): Promise<void> {
    return this.#append(retryLine(number, bytes, notBefore - this.#parts.begunAt));
  }

  throttled({ number }: StoredTask): Promise<void> {
    return this.#append(line('throttled', number));
  }

  /** Redirects led a task to a URL that was free, and is no more. */
  claimed({ number }: StoredTask, mark: string): Promise<void> {
    return this.#append(line('claimed', number, mark));
  }

  opened(producer: string): Promise<void> {
    return this.#append(line('open', producer));
  }

  sealed(producer = NONE): Promise<void> {
    const known = this.#knownOfSeeds;
    this.#knownOfSeeds = 0;
    this.#parts.credits.drop(0);
    return this.#append(line('sealed', producer, known));
  }

  steered(state: RunState): Promise<void> {
    return this.#append(line('state', state));
  }

  /** Brings to the disk what was written so far, records first: so no journal speaks of a record that a power cut took. */
  sync(): Promise<void> {
    this.#syncing = this.#syncing.then(async () => {
      const { file, syncFirst, workedMs } = this.#parts;
      if (!file.isDirty || this.#isClosed || this.#failure.signal.aborted) return;
      const bytes = file.size;
      try {
        await syncFirst();
        await this.#append(line('synced', bytes, Math.round(workedMs + performance.now() - this.#openedAt)));
        await file.sync();
      } catch (error: unknown) {
        this.#failure.abort(error);
      }
    });
    return this.#syncing;
  }

  async end(progress: RunProgress): Promise<void> {
    const { beginning, begunAt, sessions } = this.#parts;
    await this.sync();
    const small = `${this.path}.new`;
    const lines = beginningLine({ ...beginning, seeds: [], flags: {} }, begunAt) + endedLine(sessions, progress);
    try {
      await writeFile(small, lines, { flush: true, mode: JOURNAL_MODE });
      await rename(small, this.path);
    } catch {
      // The long journal tells the same: that nothing is left to do.
      rmSync(small, { force: true });
    }
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    clearInterval(this.#timer);
    await this.sync();
    this.#isClosed = true;
    await this.#parts.file.close().catch((error: unknown) => this.#failure.abort(error));
    this.#parts.lock.release();
  }

  #append(lines: string): Promise<void> {
    if (this.#failure.signal.aborted) return Promise.reject(this.#failure.signal.reason as Error);
    if (lines === '') return Promise.resolve();
    const written = this.#parts.file.append(lines);
    // One write for all lines of a turn: one look at how it went.
    if (written !== this.#lastWrite) {
      this.#lastWrite = written;
      written.catch((error: unknown) => this.#failure.abort(error));
    }
    return written;
  }
}
