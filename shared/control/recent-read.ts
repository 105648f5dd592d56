import type { Clock } from '../runtime/clock.ts';

/** A read that takes longer isn't waited for. */
const ANSWER_WITHIN_MS = 5_000;

interface RecentReadOptions {
  readonly clock: Clock;
  /** How long an answer is good for. */
  readonly forMs: number;
}

/**
 * Something that is read for everybody who asks, however many they are: at most once in a while, and never twice at once. A store that is
 * away, or fails, has no answer.
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

  /** Never rejects; nothing if it could not be read in time. */
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
