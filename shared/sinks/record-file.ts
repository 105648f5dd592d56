import { closeSync, fdatasync, fstatSync, ftruncateSync, mkdirSync, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

interface Line {
  readonly text: string;
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * One file that lines are appended to. Lines that come in one turn of the event loop go out in one write, on this thread:
 * the bytes go no further than the operating system's cache, and handing them to another thread costs four times as much.
 */
export class RecordFile {
  readonly #folder: string;
  readonly #name: string;
  #descriptor: number | undefined;
  #waiting: Line[] = [];
  #isDirty = false;
  #usedAt = performance.now();

  constructor(folder: string, name: string) {
    this.#folder = folder;
    this.#name = name;
  }

  /** Milliseconds since something was written. */
  get idleMs(): number {
    return this.#waiting.length > 0 ? 0 : performance.now() - this.#usedAt;
  }

  /** Resolves when the line is written, and rejects if it could not be. */
  append(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ text, resolve, reject });
      if (this.#waiting.length === 1) setImmediate(() => this.#write());
    });
  }

  /** Tells the disk. A failure is no failure of a record: it was written. */
  async sync(): Promise<void> {
    if (!this.#isDirty || this.#descriptor === undefined) return;
    this.#isDirty = false;
    await promisify(fdatasync)(this.#descriptor).catch(() => {});
  }

  async close(): Promise<void> {
    this.#write();
    await this.sync();
    this.#closeNow();
  }

  #write(): void {
    const lines = this.#waiting;
    if (lines.length === 0) return;
    this.#waiting = [];
    this.#usedAt = performance.now();
    try {
      this.#descriptor ??= openAtLastLine(this.#folder, this.#name);
      writeWhole(this.#descriptor, Buffer.from(lines.map(({ text }) => text).join('')));
      this.#isDirty = true;
    } catch (error: unknown) {
      // Opened again for the next record, a half-written line is cut off.
      this.#closeNow();
      for (const { reject } of lines) reject(error);
      return;
    }
    for (const { resolve } of lines) resolve();
  }

  #closeNow(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }
}

function writeWhole(descriptor: number, bytes: Buffer): void {
  for (let offset = 0; offset < bytes.length; ) offset += writeSync(descriptor, bytes, offset);
}

/** Opens a file for appending, after cutting off a last line that a crash, or a full disk, tore. */
function openAtLastLine(folder: string, name: string): number {
  mkdirSync(folder, { recursive: true });
  const descriptor = openSync(join(folder, name), 'a+');
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
