import { once } from 'node:events';
import { rmSync, type Stats } from 'node:fs';
import { type FileHandle, open, readdir, readlink, realpath, rename, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { codeOf, messageOf, StorageError } from '../../../shared/runtime/errors.ts';
import { HOUR_MS } from '../../../shared/task/durations.ts';
import { isOutputOver } from './output.ts';

const BATCH_LENGTH = 64 * 1024;

/** What ends the name of a file that isn't finished: its process. */
const UNFINISHED = /^\d+\.tmp$/;
/** Whoever still writes one writes to it more often. */
const LEFT_AFTER_MS = HOUR_MS;

/** Stands for standard output, or input. */
export const STANDARD_STREAM = '-';

/** Where many lines go. Writing waits for a slow reader. */
export interface LineOutput {
  /** Takes text that is safe to show. */
  write(text: string): Promise<void>;
  /** The reader has left: nothing written from now on is read. */
  readonly isOver: boolean;
  /** All is written: a file takes its name, and the place of an older one, only now. */
  finish(): Promise<void>;
  /** Closes a file; one that isn't finished is removed. */
  close(): Promise<void>;
}

/**
 * Opens standard output, or a file. Until it is finished, an older file of that name stays as it is.
 *
 * @throws StorageError if the file can't be written; so does writing to one that is full
 */
export async function openLineOutput(path = STANDARD_STREAM): Promise<LineOutput> {
  if (path === STANDARD_STREAM) return standardOutput;
  try {
    return await FileOutput.open(path);
  } catch (error: unknown) {
    throw unwritable(path, error);
  }
}

/**
 * Checks that a file can be written, and leaves no trace.
 *
 * @throws StorageError if it can't
 */
export async function expectWritable(path: string): Promise<void> {
  // To open a pipe and close it would end it for its reader.
  if (path === STANDARD_STREAM || (await isDevice(path))) return;
  await (await openLineOutput(path)).close();
}

const standardOutput: LineOutput = {
  async write(text) {
    // `watchOutput` handles the stream's failure.
    if (!isOutputOver() && !process.stdout.write(text)) await once(process.stdout, 'drain').catch(() => {});
  },
  get isOver() {
    return isOutputOver();
  },
  async finish() {},
  async close() {},
};

class FileOutput implements LineOutput {
  readonly isOver = false;
  readonly #path: string;
  readonly #file: FileHandle;
  /** The names that it has until it is finished, and then; left out for a device, which keeps its own. */
  readonly #names: { readonly now: string; readonly then: string } | undefined;
  readonly #onExit = (): void => this.#remove();
  #waiting = '';
  #isFinished = false;

  private constructor(
    path: string,
    file: FileHandle,
    names: { readonly now: string; readonly then: string } | undefined,
  ) {
    this.#path = path;
    this.#file = file;
    this.#names = names;
    process.once('exit', this.#onExit);
  }

  static async open(path: string): Promise<FileOutput> {
    if (await isDevice(path)) return new FileOutput(path, await open(path, 'w'), undefined);
    const older = await olderFile(path);
    // It could be replaced where it can't be written, and then would be another's.
    if (older !== undefined) await (await open(path, 'r+')).close();
    const then = older === undefined ? await endOfLinks(path) : await realpath(path);
    await sweep(then);
    const now = join(dirname(then), `.${basename(then)}.${process.pid}.tmp`);
    // Of an earlier process of this number; whoever else may write to the folder leads nothing elsewhere by it.
    rmSync(now, { force: true });
    const file = await open(now, 'wx', older?.mode);
    // The umask has taken rights of a group away. Some file systems have none.
    if (older !== undefined) await file.chmod(older.mode).catch(() => {});
    return new FileOutput(path, file, { now, then });
  }

  async write(text: string): Promise<void> {
    this.#waiting += text;
    if (this.#waiting.length >= BATCH_LENGTH) await this.#flush();
  }

  async finish(): Promise<void> {
    await this.#flush();
    if (this.#names === undefined) return;
    try {
      await this.#file.sync();
      await rename(this.#names.now, this.#names.then);
    } catch (error: unknown) {
      throw unwritable(this.#path, error);
    }
    this.#isFinished = true;
  }

  async close(): Promise<void> {
    process.off('exit', this.#onExit);
    this.#remove();
    await this.#file.close();
  }

  async #flush(): Promise<void> {
    const text = this.#waiting;
    this.#waiting = '';
    try {
      await this.#file.writeFile(text);
    } catch (error: unknown) {
      throw unwritable(this.#path, error);
    }
  }

  #remove(): void {
    if (this.#names !== undefined && !this.#isFinished) rmSync(this.#names.now, { force: true });
  }
}

/** The file that is there, by links as well; nothing if there is none. */
async function olderFile(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (error: unknown) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Removes what killed processes have left of the same file. */
async function sweep(path: string): Promise<void> {
  const [folder, begin] = [dirname(path), `.${basename(path)}.`];
  const names = await readdir(folder).catch(() => []);
  for (const name of names) {
    if (!name.startsWith(begin) || !UNFINISHED.test(name.slice(begin.length))) continue;
    const found = await stat(join(folder, name)).catch(() => undefined);
    if (found !== undefined && Date.now() - found.mtimeMs > LEFT_AFTER_MS) rmSync(join(folder, name), { force: true });
  }
}

/** Where a link leads to, or one after another, to no file yet; else the path itself. */
async function endOfLinks(path: string): Promise<string> {
  const target = await readlink(path).catch(() => undefined);
  return target === undefined ? path : await endOfLinks(resolve(dirname(path), target));
}

/** Is it there, and something that no file can take the place of: a terminal, a pipe, `/dev/null`? */
async function isDevice(path: string): Promise<boolean> {
  const stats = await stat(path).catch(() => undefined);
  return stats !== undefined && !stats.isFile() && !stats.isDirectory();
}

function unwritable(path: string, error: unknown): StorageError {
  const reason = messageOf(error);
  return new StorageError(`${path} can't be written: ${reason}. Name another file with --output`, { cause: error });
}
