import { constants, fstatSync, openSync, write, writeSync } from 'node:fs';
import { isatty } from 'node:tty';
import { codeOf } from './errors.ts';

const FD = 2;
const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = constants;

/**
 * Opens a terminal or pipe a second time, so that writes never block while nobody reads. The original descriptor is shared with
 * other programs, which expect it to block. Returns `undefined` where this isn't possible: for files and sockets, without the
 * permission to open it, and on systems other than Linux.
 */
export function openWithoutWaiting(fd: number): number | undefined {
  try {
    const stats = fstatSync(fd);
    if (!stats.isFIFO() && !stats.isCharacterDevice()) return undefined;
    return openSync(`/proc/self/fd/${fd}`, O_WRONLY | O_NONBLOCK | O_NOCTTY);
  } catch {
    return undefined;
  }
}

/** Number of waiting characters at which they are written before {@link FLUSH_EVERY_MS} is over. */
const BATCH_LENGTH = 4_096;
/** Longest time a line waits in memory before it is written. */
const FLUSH_EVERY_MS = 100;
/** Maximum characters kept while the reader doesn't read. */
const MOST_LENGTH = 1_000_000;
/** Pause after a write that failed. */
const AFTER_FAILURE_MS = 5_000;
/** Number of waits for a full pipe when the process ends, and the length of each. */
const LAST_TRIES = 20;
const LAST_WAIT_MS = 10;

/**
 * Standard error, written in batches. While it can't be written, on a full disk for example, lines are lost, the work
 * continues, and the process can still end.
 *
 * Why not pino's own destination (sonic-boom 4.2.1): at the end of a process it retries until the rest is written, so on a full
 * disk the process never ends. And while it waits for a full pipe, it keeps the process alive.
 */
export class StandardError {
  #waiting = '';
  #isWriting = false;
  #timer: NodeJS.Timeout | undefined;
  #againAt = 0;
  #opened: number | undefined;

  write(line: string): void {
    if (performance.now() < this.#againAt || this.#waiting.length > MOST_LENGTH) return;
    this.#waiting += line;
    if (this.#waiting.length >= BATCH_LENGTH) this.#flush();
    else this.#timer ??= setTimeout(() => this.#flush(), FLUSH_EVERY_MS).unref();
  }

  get #fd(): number {
    this.#opened ??= openWithoutWaiting(FD) ?? FD;
    return this.#opened;
  }

  /** Writes the waiting lines, as far as possible. */
  close(): void {
    clearTimeout(this.#timer);
    let bytes = Buffer.from(this.#waiting);
    this.#waiting = '';
    for (let tries = 0; bytes.length > 0 && tries < LAST_TRIES; ) {
      try {
        bytes = bytes.subarray(writeSync(this.#fd, bytes));
      } catch (error: unknown) {
        if (codeOf(error) !== 'EAGAIN') return;
        tries++;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LAST_WAIT_MS);
      }
    }
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#isWriting || this.#waiting === '') return;
    this.#isWriting = true;
    const bytes = Buffer.from(this.#waiting);
    this.#waiting = '';
    this.#send(bytes);
  }

  #send(bytes: Buffer): void {
    write(this.#fd, bytes, (error, written) => {
      if (error !== null && error.code === 'EAGAIN') {
        setTimeout(() => this.#send(bytes), LAST_WAIT_MS).unref();
      } else if (error === null && written < bytes.length) {
        this.#send(bytes.subarray(written));
      } else {
        this.#isWriting = false;
        if (error !== null) this.#fail();
        else if (this.#waiting !== '') this.#timer ??= setTimeout(() => this.#flush(), FLUSH_EVERY_MS).unref();
      }
    });
  }

  #fail(): void {
    this.#waiting = '';
    this.#againAt = performance.now() + AFTER_FAILURE_MS;
  }
}

/** Pause before the next write to a terminal that accepted nothing. */
const STOPPED_LOOK_MS = 100;

/**
 * The terminal on standard error, for output while a process works. It can block for any length of time: somebody has stopped it
 * (Ctrl-S), is selecting text in it, or has lost the connection to it. The work continues meanwhile, so the process does not
 * appear stuck. Lines then wait for the terminal, and drawings are left out.
 */
export class Terminal {
  readonly #open: () => number | undefined;
  #fd: number | undefined;
  #isOpened = false;
  #waiting = Buffer.alloc(0);
  #timer: NodeJS.Timeout | undefined;

  /** @param open returns a descriptor that never blocks; without one, `process.stderr` is used */
  constructor(open = (): number | undefined => (isatty(FD) ? openWithoutWaiting(FD) : undefined)) {
    this.#open = open;
  }

  /** Shows a text, at once or as soon as the terminal accepts it. */
  write(text: string): void {
    if (this.#waiting.length > MOST_LENGTH) return;
    if (!this.#isOpened) this.#fd = this.#open();
    this.#isOpened = true;
    if (this.#fd === undefined) {
      process.stderr.write(text);
      return;
    }
    this.#waiting = Buffer.concat([this.#waiting, Buffer.from(text)]);
    this.#flush(this.#fd);
  }

  /** Shows a text that the next drawing replaces. Skips it if something is waiting already. */
  draw(text: string): void {
    if (this.#waiting.length === 0) this.write(text);
  }

  #flush(fd: number): void {
    clearTimeout(this.#timer);
    try {
      while (this.#waiting.length > 0) this.#waiting = this.#waiting.subarray(writeSync(fd, this.#waiting));
    } catch (error: unknown) {
      // Any other error means that the terminal is gone.
      if (codeOf(error) !== 'EAGAIN') this.#waiting = Buffer.alloc(0);
      else this.#timer = setTimeout(() => this.#flush(fd), STOPPED_LOOK_MS).unref();
    }
  }
}

/** The process' only terminal. */
export const terminal = new Terminal();
