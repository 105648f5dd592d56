import { write, writeSync } from 'node:fs';
import { codeOf } from './errors.ts';

const FD = 2;
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

  write(line: string): void {
    if (performance.now() < this.#againAt || this.#waiting.length > MOST_LENGTH) return;
    this.#waiting += line;
    if (this.#waiting.length >= BATCH_LENGTH) this.#flush();
    else this.#timer ??= setTimeout(() => this.#flush(), FLUSH_EVERY_MS).unref();
  }

  /** Writes what waits, if it can be written. */
  close(): void {
    clearTimeout(this.#timer);
    let bytes = Buffer.from(this.#waiting);
    this.#waiting = '';
    for (let tries = 0; bytes.length > 0 && tries < LAST_TRIES; ) {
      try {
        bytes = bytes.subarray(writeSync(FD, bytes));
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
    write(FD, bytes, (error, written) => {
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
