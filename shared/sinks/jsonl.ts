import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { PageRecord } from '../record.ts';
import type { Sink } from '../sink.ts';

/** Between two `fsync` of a file that was written to. */
const SYNC_EVERY_MS = 1_000;
/** A run's file that nothing was written to for so long is closed. */
const CLOSE_AFTER_MS = 60_000;

interface JsonlSinkOptions {
  /** Records go to `<folder>/<run>/<worker>.jsonl`. */
  readonly folder: string;
  readonly worker: string;
}

/**
 * Appends records to one file per run and process. Stored means that `write` has returned; the disk is told every second
 * and at the end. Lines that come while one is written go out together.
 */
export class JsonlSink implements Sink {
  readonly #options: JsonlSinkOptions;
  readonly #files = new Map<string, RecordFile>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: JsonlSinkOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    this.#timer ??= setInterval(() => void this.#tidy(), SYNC_EVERY_MS).unref();
  }

  put(record: PageRecord): Promise<void> {
    let file = this.#files.get(record.run);
    if (file === undefined) {
      file = new RecordFile(join(this.#options.folder, record.run), `${this.#options.worker}.jsonl`);
      this.#files.set(record.run, file);
    }
    return file.append(`${JSON.stringify(record)}\n`);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#timer = undefined;
    const files = [...this.#files.values()];
    this.#files.clear();
    await Promise.all(files.map((file) => file.close()));
  }

  async #tidy(): Promise<void> {
    for (const [run, file] of this.#files) {
      if (file.idleMs() > CLOSE_AFTER_MS) {
        this.#files.delete(run);
        await file.close().catch(() => {});
      } else {
        await file.sync();
      }
    }
  }
}

interface Line {
  readonly text: string;
  resolve(): void;
  reject(error: unknown): void;
}

/** One file that is appended to, by one write at a time. */
class RecordFile {
  readonly #folder: string;
  readonly #name: string;
  #handle: Promise<FileHandle> | undefined;
  #waiting: Line[] = [];
  #writing: Promise<void> | undefined;
  #dirty = false;
  #usedAt = performance.now();

  constructor(folder: string, name: string) {
    this.#folder = folder;
    this.#name = name;
  }

  idleMs(): number {
    return this.#writing === undefined ? performance.now() - this.#usedAt : 0;
  }

  append(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ text, resolve, reject });
      this.#writing ??= this.#write();
    });
  }

  /** Failing to sync is no failure of a record: it was written. */
  async sync(): Promise<void> {
    if (!this.#dirty) return;
    this.#dirty = false;
    const handle = await this.#handle;
    await handle?.datasync().catch(() => {});
  }

  async close(): Promise<void> {
    await this.#writing;
    await this.sync();
    const handle = await this.#handle?.catch(() => undefined);
    await handle?.close();
  }

  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const lines = this.#waiting;
      this.#waiting = [];
      try {
        this.#handle ??= openAtLastLine(this.#folder, this.#name);
        const handle = await this.#handle;
        await writeWhole(handle, Buffer.from(lines.map(({ text }) => text).join('')));
        this.#dirty = true;
        for (const { resolve } of lines) resolve();
      } catch (error: unknown) {
        // A half-written line is cut off when the file is opened again, for the next record.
        await this.#handle?.then((handle) => handle.close()).catch(() => {});
        this.#handle = undefined;
        for (const { reject } of lines) reject(error);
      }
    }
    this.#usedAt = performance.now();
    this.#writing = undefined;
  }
}

async function writeWhole(handle: FileHandle, bytes: Buffer): Promise<void> {
  let offset = 0;
  while (offset < bytes.length) {
    const { bytesWritten } = await handle.write(bytes, offset);
    offset += bytesWritten;
  }
}

/** Opens a file for appending, after cutting off a last line that a crash tore. */
async function openAtLastLine(folder: string, name: string): Promise<FileHandle> {
  await mkdir(folder, { recursive: true });
  const path = join(folder, name);
  const appending = await open(path, 'a');
  try {
    const { size } = await appending.stat();
    if (size > 0) await appending.truncate(await endOfLastLine(path, size));
    return appending;
  } catch (error: unknown) {
    await appending.close();
    throw error;
  }
}

async function endOfLastLine(path: string, size: number): Promise<number> {
  const handle = await open(path, 'r');
  try {
    const block = Buffer.alloc(64 * 1024);
    for (let end = size; end > 0; ) {
      const start = Math.max(0, end - block.length);
      const { bytesRead } = await handle.read(block, 0, end - start, start);
      const newline = block.subarray(0, bytesRead).lastIndexOf(10);
      if (newline >= 0) return start + newline + 1;
      end = start;
    }
    return 0;
  } finally {
    await handle.close();
  }
}
