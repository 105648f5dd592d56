import { once } from 'node:events';
import { rmSync, type Stats } from 'node:fs';
import { type FileHandle, open, readdir, readlink, realpath, rename, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { codeOf, messageOf, StorageError } from '../../../shared/runtime/errors.ts';
import { HOUR_MS } from '../../../shared/task/durations.ts';
import { isOutputOver } from './output.ts';

const BATCH_LENGTH = 64 * 1024;

/** The end of an unfinished file's name, which contains its process id. */
const UNFINISHED = /^\d+\.tmp$/;
/** Age after which an unfinished file counts as abandoned: a live process writes more often. */
const LEFT_AFTER_MS = HOUR_MS;

/** The name for standard output, or for standard input. */
export const STANDARD_STREAM = '-';

/** An output for many lines. Writing waits for a slow reader. */
export interface LineOutput {
  /** Writes text, which must be safe to show. */
  write(text: string): Promise<void>;
  /** The reader has left: nothing written from now on will be read. */
  readonly isOver: boolean;
  /** To be called when all is written. Only now does a file take its name, replacing an older file. */
  finish(): Promise<void>;
  /** Closes a file, and removes it if it isn't finished. */
  close(): Promise<void>;
}

/**
 * Opens standard output or a file. An older file of that name stays untouched until the output is finished.
 *
 * @throws StorageError if the file can't be written. Writes throw it too, if the disk is full for example.
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
 * Checks that a file can be written, without leaving a trace.
 *
 * @throws StorageError if it can't
 */
export async function expectWritable(path: string): Promise<void> {
  // Opening and closing a pipe would end it for its reader.
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
  /** The temporary and the final name; absent for a device, which has only its own. */
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
    // Renaming could replace even a file that we may not write, and so change its owner.
    if (older !== undefined) await (await open(path, 'r+')).close();
    const then = older === undefined ? await endOfLinks(path) : await realpath(path);
    await sweep(then);
    const now = join(dirname(then), `.${basename(then)}.${process.pid}.tmp`);
    // Removes the leftover of an earlier process with this id, or a link planted there to redirect our output.
    rmSync(now, { force: true });
    const file = await open(now, 'wx', older?.mode);
    // Restore permissions that the umask took away. Some file systems have none.
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

/** Returns the existing file at a path, following links; undefined if there is none. */
async function olderFile(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (error: unknown) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Removes unfinished versions of the same file that killed processes left behind. */
async function sweep(path: string): Promise<void> {
  const [folder, begin] = [dirname(path), `.${basename(path)}.`];
  const names = await readdir(folder).catch(() => []);
  for (const name of names) {
    if (!name.startsWith(begin) || !UNFINISHED.test(name.slice(begin.length))) continue;
    const found = await stat(join(folder, name)).catch(() => undefined);
    if (found !== undefined && Date.now() - found.mtimeMs > LEFT_AFTER_MS) rmSync(join(folder, name), { force: true });
  }
}

/** Follows a chain of links to a file that doesn't exist yet. Returns the path itself if it is not a link. */
async function endOfLinks(path: string): Promise<string> {
  const target = await readlink(path).catch(() => undefined);
  return target === undefined ? path : await endOfLinks(resolve(dirname(path), target));
}

/** Does the path exist and name something that a file can't replace, such as a terminal, a pipe or `/dev/null`? */
async function isDevice(path: string): Promise<boolean> {
  const stats = await stat(path).catch(() => undefined);
  return stats !== undefined && !stats.isFile() && !stats.isDirectory();
}

function unwritable(path: string, error: unknown): StorageError {
  const reason = messageOf(error);
  return new StorageError(`${path} can't be written: ${reason}. Name another file with --output`, { cause: error });
}
