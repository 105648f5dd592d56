import type { Clock } from '../runtime/clock.ts';

/** Longest wait for a read. */
const ANSWER_WITHIN_MS = 5_000;

interface RecentReadOptions {
  readonly clock: Clock;
  /** Milliseconds for which a value is reused. */
  readonly forMs: number;
}

/**
 * A value that is read on behalf of any number of callers, at most once per period and never twice at the same time. There is no value
 * while the store is unreachable or fails.
 */
export class RecentRead<T> {
  readonly #read: () => Promise<T>;
  readonly #options: RecentReadOptions;
  #reading: Promise<T | undefined> | undefined;
  #last: { readonly value: T; readonly at: number } | undefined;

  constructor(read: () => Promise<T>, options: RecentReadOptions) {
    this.#read = read;
    this.#options = options;
  }

  /** Returns the value; undefined if it could not be read in time. Never rejects. */
  async get(): Promise<T | undefined> {
    const { clock, forMs } = this.#options;
    if (this.#last !== undefined && clock.monotonic() - this.#last.at < forMs) return this.#last.value;
    this.#reading ??= this.#again();
    const over = new AbortController();
    const late = clock.sleep(ANSWER_WITHIN_MS, over.signal).then(() => undefined);
    const value = await Promise.race([this.#reading, late]);
    over.abort();
    return value;
  }

  async #again(): Promise<T | undefined> {
    try {
      const value = await this.#read();
      this.#last = { value, at: this.#options.clock.monotonic() };
      return value;
    } catch {
      return undefined;
    } finally {
      this.#reading = undefined;
    }
  }
}
