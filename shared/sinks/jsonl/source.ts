import type { Dirent } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { PageRecord } from '../../ports/record.ts';
import type { NoRecord, ReadWatch, RecordSource } from '../../ports/sink.ts';
import { codeOf, messageOf, StorageError } from '../../runtime/errors.ts';
import { type FileLine, linesOf } from '../../runtime/files/line-reader.ts';
import { DAY_MS } from '../../task/durations.ts';
import { RUN_ID } from '../../task/task/task.ts';
import { NewestReleases } from '../newest-releases.ts';

/** Number of characters to show of a line that isn't a record. */
const BEGINNING_LENGTH = 80;

/** Maximum difference between the times of a file and those in it, since other machines wrote some of them. */
const CLOCKS_DIFFER_MS = DAY_MS;

/** Assumed size of a short record, to estimate the number of tasks. Shorter ones only cost more memory. */
const SHORT_LINE_BYTES = 300;

/** The files of a run's records, and their times. */
interface Place {
  readonly run: string;
  readonly files: readonly string[];
  /** When the folder was created, and when a file of records in it was last changed, in epoch milliseconds. */
  readonly madeAt: number;
  readonly until: number;
}

const OUTCOMES: ReadonlySet<unknown> = new Set<PageRecord['outcome']>(['done', 'failed', 'skipped']);
/** The fingerprint at the end of a task's id, by which records are merged. */
const TASK = /:[0-9a-f]{1,32}$/;

/**
 * Reads the records that {@link JsonlSink}s wrote to a folder, in two passes: the first finds the highest release of each task,
 * and the second returns the lines with that release. Skips a last line cut off by a crash. Reads no file outside the folder,
 * whatever a run's name.
 */
export class JsonlSource implements RecordSource {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async *read(run: string, { onNoRecord = () => {}, onCounted, signal }: ReadWatch = {}): AsyncGenerator<PageRecord> {
    const files = await this.#files(run);
    const sizes = await Promise.all(files.map(sizeOf));
    const newest = new NewestReleases(Math.ceil(sizes.reduce((sum, size) => sum + size, 0) / SHORT_LINE_BYTES));
    const seen: { readonly file: string; readonly lines: number }[] = [];
    let done = 0;
    for (const file of files) {
      const found = await seeAll(file, newest, signal);
      done += found.done;
      seen.push({ file, lines: found.lines });
    }
    onCounted?.(done);
    for (const { file, lines } of seen) {
      for await (const record of recordsOf(file, onNoRecord, lines)) {
        signal?.throwIfAborted();
        if (newest.take(record.task, record.release)) yield record;
      }
    }
  }

  async find(run: string, task: string): Promise<PageRecord | undefined> {
    let found: PageRecord | undefined;
    for (const file of await this.#files(run)) {
      for await (const line of namedLinesOf(file)) {
        // Most lines belong to other tasks, and need not be parsed.
        const record = line.text.includes(task) ? parse(line) : undefined;
        if (record?.task === task && record.release >= (found?.release ?? 0)) found = record;
      }
    }
    return found;
  }

  async runs(): Promise<readonly string[]> {
    const entries = await entriesOf(this.#folder);
    return entries.filter((entry) => entry.isDirectory() && RUN_ID.test(entry.name)).map(({ name }) => name);
  }

  async last(): Promise<string | undefined> {
    const places = await Promise.all((await this.runs()).map((run) => this.#placeOf(run)));
    let last: { readonly run?: string; readonly at: string } = { at: '' };
    const there = places.filter((place) => place !== undefined);
    for (const place of there.toSorted((a, b) => b.until - a.until)) {
      // No record is newer than its file, so a few runs are read even if there are thousands.
      if (place.until + CLOCKS_DIFFER_MS < Date.parse(last.at)) break;
      const at = (await this.#beginOf(place)) ?? new Date(place.madeAt).toISOString();
      if (at > last.at || (at === last.at && place.run > (last.run ?? ''))) last = { run: place.run, at };
    }
    return last.run;
  }

  async has(run: string): Promise<boolean> {
    return (await this.#files(run)).length > 0;
  }

  async close(): Promise<void> {}

  /** Returns a run's files and times; `undefined` if the folder is being removed. */
  async #placeOf(run: string): Promise<Place | undefined> {
    const folder = join(this.#folder, run);
    const files = await this.#files(run);
    try {
      const changes = await Promise.all(files.map(async (file) => (await stat(file)).mtimeMs));
      // A run without a record yet began when its folder was created.
      const madeAt = (await stat(folder)).birthtimeMs;
      return { run, files, madeAt, until: files.length === 0 ? madeAt : Math.max(...changes) };
    } catch (error: unknown) {
      if (codeOf(error) === 'ENOENT') return undefined;
      throw unreadable(folder, error);
    }
  }

  /** Returns the time of the first record; `undefined` if there is none. */
  async #beginOf({ files }: Place): Promise<string | undefined> {
    const times = await Promise.all(files.map(firstTimeOf));
    const [first] = times.filter((time) => time !== undefined).toSorted();
    return first;
  }

  async #files(run: string): Promise<string[]> {
    if (!RUN_ID.test(run)) return [];
    const folder = join(this.#folder, run);
    const names = (await entriesOf(folder)).map(({ name }) => name);
    // Sorted, so that pages of records that are asked for one by one fit together.
    return names
      .filter((name) => name.endsWith('.jsonl'))
      .toSorted()
      .map((name) => join(folder, name));
  }
}

/** Returns the entries of a folder; none if it doesn't exist. */
async function entriesOf(folder: string): Promise<readonly Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error: unknown) {
    if (codeOf(error) === 'ENOENT') return [];
    throw unreadable(folder, error);
  }
}

async function sizeOf(file: string): Promise<number> {
  try {
    return (await stat(file)).size;
  } catch (error: unknown) {
    throw unreadable(file, error);
  }
}

/**
 * Notes the release of each record in a file.
 *
 * @returns the number of lines read, since more may be written meanwhile, and how many of them are records of done pages
 */
async function seeAll(
  file: string,
  newest: NewestReleases,
  signal: AbortSignal | undefined,
): Promise<{ readonly lines: number; readonly done: number }> {
  let [lines, done] = [0, 0];
  for await (const line of namedLinesOf(file)) {
    signal?.throwIfAborted();
    const record = parse(line);
    if (record !== undefined) newest.see(record.task, record.release);
    if (record?.outcome === 'done') done++;
    if (record !== undefined || line.isWhole) lines = line.number;
  }
  return { lines, done };
}

/** @param most maximum number of lines to read */
async function* recordsOf(
  file: string,
  onNoRecord: (found: NoRecord) => void,
  most = Number.POSITIVE_INFINITY,
): AsyncGenerator<PageRecord> {
  for await (const line of namedLinesOf(file)) {
    if (line.number > most) return;
    const record = parse(line);
    if (record !== undefined) yield record;
    else if (line.isWhole && line.text.trim() !== '')
      onNoRecord({ file, line: line.number, begins: line.text.slice(0, BEGINNING_LENGTH) });
  }
}

/** Returns the time of the first record in a file. Since files are appended to, it is about the earliest. */
async function firstTimeOf(file: string): Promise<string | undefined> {
  for await (const { fetchedAt } of recordsOf(file, () => {})) return fetchedAt;
  return undefined;
}

async function* namedLinesOf(file: string): AsyncGenerator<FileLine, void, void> {
  try {
    yield* linesOf(file);
  } catch (error: unknown) {
    throw unreadable(file, error);
  }
}

function unreadable(path: string, error: unknown): StorageError {
  return new StorageError(`records can't be read from ${path}: ${messageOf(error)} (OUTPUT_DIR)`, { cause: error });
}

function parse({ text, isCut }: FileLine): PageRecord | undefined {
  if (isCut) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Returns whether a value has the fields that are needed to merge and show records. */
function isRecord(value: unknown): value is PageRecord {
  if (typeof value !== 'object' || value === null) return false;
  const { run, task, url, release, outcome, fetchedAt } = value as Partial<Record<keyof PageRecord, unknown>>;
  return (
    typeof run === 'string' &&
    typeof task === 'string' &&
    TASK.test(task) &&
    typeof url === 'string' &&
    typeof fetchedAt === 'string' &&
    Number.isSafeInteger(release) &&
    Number(release) >= 0 &&
    OUTCOMES.has(outcome)
  );
}
