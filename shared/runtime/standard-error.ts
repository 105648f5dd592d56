import { constants, fstatSync, openSync, write, writeSync } from 'node:fs';
import { isatty } from 'node:tty';
import { codeOf } from './errors.ts';

const FD = 2;
const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = constants;

/**
 * Opens a terminal or a pipe once more, so that writing to it never waits while nobody reads: other programs share the descriptor itself,
 * and wait. Nothing where that can't be: for files, for sockets, for a user who may not open it, and on systems other than Linux.
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

/** Once this many characters wait, they are written sooner than {@link FLUSH_EVERY_MS}. */
const BATCH_LENGTH = 4_096;
/** How long a line may wait in memory before it is written. */
const FLUSH_EVERY_MS = 100;
/** Characters kept at most for a reader that doesn't read. */
const MOST_LENGTH = 1_000_000;
/** The pause after a write that failed. */
const AFTER_FAILURE_MS = 5_000;
/** How often, and how long each time, the end waits for a full pipe. */
const LAST_TRIES = 20;
const LAST_WAIT_MS = 10;

/**
 * Standard error, written to in batches. While it can't be written, on a full disk say, lines are lost, and the work
 * continues; the end of the process doesn't wait for it, either.
 *
 * Why not pino's own destination (sonic-boom 4.2.1): at the end of a process it retries what is left until that works, so
 * on a full disk no process ends; and its waits for a full pipe keep a process alive.
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

  /** Writes what waits, if it can be written. */
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

/** The pause before a terminal that took nothing is tried again. */
const STOPPED_LOOK_MS = 100;

/**
 * The terminal on standard error, for what is shown while a process works. It may take nothing for any time: somebody has stopped it
 * (Ctrl-S), selects text in it, or has lost the network to it. The work goes on meanwhile, and nobody takes the process for stuck.
 * Lines wait for the terminal then, and drawings are left out.
 */
export class Terminal {
  readonly #open: () => number | undefined;
  #fd: number | undefined;
  #isOpened = false;
  #waiting = Buffer.alloc(0);
  #timer: NodeJS.Timeout | undefined;

  /** @param open gives a descriptor that never waits; if there is none, it is written to as any stream */
  constructor(open = (): number | undefined => (isatty(FD) ? openWithoutWaiting(FD) : undefined)) {
    this.#open = open;
  }

  /** Shows a text; if there is no room for it, as soon as there is. */
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

  /** Shows a text that the next one replaces; not if something waits already. */
  draw(text: string): void {
    if (this.#waiting.length === 0) this.write(text);
  }

  #flush(fd: number): void {
    clearTimeout(this.#timer);
    try {
      while (this.#waiting.length > 0) this.#waiting = this.#waiting.subarray(writeSync(fd, this.#waiting));
    } catch (error: unknown) {
      // A terminal that is gone takes nothing any more.
      if (codeOf(error) !== 'EAGAIN') this.#waiting = Buffer.alloc(0);
      else this.#timer = setTimeout(() => this.#flush(fd), STOPPED_LOOK_MS).unref();
    }
  }
}

/** A process has one. */
export const terminal = new Terminal();
