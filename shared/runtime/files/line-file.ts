import { closeSync, fdatasync, fstatSync, ftruncateSync, openSync, readSync, statSync, writeSync } from 'node:fs';
import { dirname, join, parse } from 'node:path';
import { promisify } from 'node:util';
import { codeOf, messageOf, RemovedFileError, StorageError } from '../errors.ts';
import { makeOutputFolder } from './output-folder.ts';

/** Maximum characters that wait for the end of the turn. Beyond that, they are written at once. */
const MAX_WAITING_LENGTH = 8 * 1024 ** 2;
/** Maximum number of names tried for a new file. */
const MOST_NAMES = 100;

/**
 * A file that lines are appended to. All lines of one turn of the event loop go out in one write on this thread. The bytes go no
 * further than the operating system's cache, and handing them to another thread would cost four times as much.
 */
export class LineFile {
  #path: string;
  #descriptor: number | undefined;
  #waiting = '';
  /** Settles when the waiting lines have been written. */
  #turn: PromiseWithResolvers<void> | undefined;
  #size = 0;
  #isDirty = false;
  /** Syncs run one after another, so that none is done before an earlier one. */
  #synced: Promise<void> = Promise.resolve();
  #usedAt = performance.now();

  readonly #mode: number;
  /** A file that already exists belongs to another process. From the first line on, the file is this process' own. */
  #isForeign: boolean;

  /**
   * @param mode permissions of the file if it has to be created
   * @param isNew nobody else may write the file: if it exists already, the first line goes to a file with another name
   */
  constructor(
    path: string,
    { mode = 0o666, isNew = false }: { readonly mode?: number; readonly isNew?: boolean } = {},
  ) {
    this.#path = path;
    this.#mode = mode;
    this.#isForeign = isNew;
  }

  get path(): string {
    return this.#path;
  }

  get isOpen(): boolean {
    return this.#descriptor !== undefined;
  }

  /** Milliseconds since the last write. */
  get idleMs(): number {
    return this.#turn === undefined ? performance.now() - this.#usedAt : 0;
  }

  /** Bytes written to the file; 0 before the first line. */
  get size(): number {
    return this.#size;
  }

  /** Whether something was written that has not been synced to the disk. */
  get isDirty(): boolean {
    return this.#isDirty;
  }

  /**
   * Appends lines, and resolves when they are written. Rejects with a {@link StorageError} if they could not be, or if the file
   * has been removed; the next lines then go to a new file.
   */
  append(lines: string): Promise<void> {
    this.#waiting += lines;
    if (this.#turn === undefined) {
      this.#turn = Promise.withResolvers();
      setImmediate(() => this.#write());
    }
    const { promise } = this.#turn;
    if (this.#waiting.length > MAX_WAITING_LENGTH) this.#write();
    return promise;
  }

  /**
   * Syncs everything written so far to the disk. Once a sync has failed, all later ones fail, too: the data that the disk refused
   * is lost, and another attempt would not report that.
   */
  sync(): Promise<void> {
    this.#synced = this.#synced.then(() => this.#syncNow());
    return this.#synced;
  }

  /** Writes the waiting lines, syncs them, and closes the file. Includes lines that are appended during the sync. */
  async close(): Promise<void> {
    try {
      do {
        this.#write();
        await this.sync();
      } while (this.#turn !== undefined || (this.isOpen && this.#isDirty));
    } finally {
      this.#closeNow();
    }
  }

  async #syncNow(): Promise<void> {
    if (this.#descriptor === undefined) return;
    try {
      this.#expectThere();
      if (!this.#isDirty) return;
      this.#isDirty = false;
      await promisify(fdatasync)(this.#descriptor);
    } catch (error: unknown) {
      throw this.#unwritable(error);
    }
  }

  /** Wraps an error with the file's path. A `StorageError` names a path already. */
  #unwritable(error: unknown): StorageError {
    if (error instanceof StorageError) return error;
    return new StorageError(`${this.path} can't be written: ${messageOf(error)}`, { cause: error });
  }

  #write(): void {
    const turn = this.#turn;
    if (turn === undefined) return;
    const lines = this.#waiting;
    this.#turn = undefined;
    this.#waiting = '';
    this.#usedAt = performance.now();
    try {
      this.#expectThere();
      this.#descriptor ??= this.#open();
      const bytes = Buffer.from(lines);
      writeWhole(this.#descriptor, bytes);
      this.#size += bytes.length;
      this.#isDirty = true;
    } catch (error: unknown) {
      // The next line opens the file again, which cuts off a half-written one.
      this.#closeNow();
      // The next lines go to a new file, whose syncs must not fail because of this one.
      if (error instanceof RemovedFileError) this.#synced = Promise.resolve();
      turn.reject(this.#unwritable(error));
      return;
    }
    turn.resolve();
  }

  /** Checks that the file still exists: a removed one accepts every line and keeps none. @throws RemovedFileError */
  #expectThere(): void {
    if (this.#descriptor === undefined) return;
    const { nlink, ino } = fstatSync(this.#descriptor);
    // Some file systems don't count links.
    if (nlink === 0 && statSync(this.path, { throwIfNoEntry: false })?.ino !== ino)
      throw new RemovedFileError(this.path);
  }

  #open(): number {
    makeOutputFolder(dirname(this.path));
    const descriptor = this.#isForeign ? this.#openNew() : openAtLastLine(this.path, this.#mode);
    this.#isForeign = false;
    this.#size = fstatSync(descriptor).size;
    return descriptor;
  }

  /** Creates a file, leaving existing ones alone: cutting off a line that another process is writing would tear it. */
  #openNew(): number {
    const { dir, name, ext } = parse(this.#path);
    for (let number = 2; ; number++) {
      try {
        return openSync(this.#path, 'ax+', this.#mode);
      } catch (error: unknown) {
        if (codeOf(error) !== 'EEXIST' || number > MOST_NAMES) throw error;
        this.#path = join(dir, `${name}-${number}${ext}`);
      }
    }
  }

  #closeNow(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }
}

function writeWhole(descriptor: number, bytes: Buffer): void {
  for (let offset = 0; offset < bytes.length; ) offset += writeSync(descriptor, bytes, offset);
}

/** Opens a file for appending, and cuts off a last line torn by a crash or a full disk. */
function openAtLastLine(path: string, mode: number): number {
  const descriptor = openSync(path, 'a+', mode);
  try {
    const { size } = fstatSync(descriptor);
    if (size > 0) ftruncateSync(descriptor, endOfLastLine(descriptor, size));
    return descriptor;
  } catch (error: unknown) {
    closeSync(descriptor);
    throw error;
  }
}

function endOfLastLine(descriptor: number, size: number): number {
  const block = Buffer.alloc(64 * 1024);
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - block.length);
    const bytesRead = readSync(descriptor, block, 0, end - start, start);
    const newline = block.subarray(0, bytesRead).lastIndexOf(10);
    if (newline >= 0) return start + newline + 1;
    end = start;
  }
  return 0;
}
