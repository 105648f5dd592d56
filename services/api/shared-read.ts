import type { Clock } from '../../shared/runtime/clock.ts';

interface Reading<T> {
  readonly found: Promise<T>;
  /** When the answer expires. Left out while the read is under way. */
  until?: number;
}

/** A costly read, shared: everyone who asks while it is under way, or for a while after it, gets the same answer. */
export class SharedRead<T> {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #keptMs: (tookMs: number) => number;
  #reading: Reading<T> | undefined;

  /** @param keptMs how long to keep an answer, given how long the read took */
  constructor(clock: Pick<Clock, 'monotonic'>, keptMs: (tookMs: number) => number) {
    this.#clock = clock;
    this.#keptMs = keptMs;
  }

  /** Returns the shared answer, or begins a read. A caller that gives up doesn't end the read: the next one joins it. */
  get(read: () => Promise<T>): Promise<T> {
    const { until = Number.POSITIVE_INFINITY } = this.#reading ?? {};
    if (this.#reading === undefined || this.#clock.monotonic() >= until) this.#reading = this.#begin(read);
    return this.#reading.found;
  }

  /** Drops the answer after a change: the next caller reads again. */
  forget(): void {
    this.#reading = undefined;
  }

  #begin(read: () => Promise<T>): Reading<T> {
    const begunAt = this.#clock.monotonic();
    const reading: Reading<T> = { found: read() };
    const drop = (): void => {
      if (this.#reading === reading) this.forget();
    };
    reading.found.then(() => {
      const keptMs = this.#keptMs(this.#clock.monotonic() - begunAt);
      reading.until = this.#clock.monotonic() + keptMs;
      // The answer may be large, and perhaps nobody asks again.
      setTimeout(drop, keptMs).unref();
    }, drop);
    return reading;
  }
}
