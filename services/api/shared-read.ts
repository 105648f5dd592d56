import type { Clock } from '../../shared/runtime/clock.ts';

interface Reading<T> {
  readonly found: Promise<T>;
  /** Left out while it goes on. */
  until?: number;
}

/** A costly read: one at a time, which serves all who ask while it goes on, and for a while after its end. */
export class SharedRead<T> {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #keptMs: (tookMs: number) => number;
  #reading: Reading<T> | undefined;

  /** @param keptMs how long an answer is kept, by how long reading it took */
  constructor(clock: Pick<Clock, 'monotonic'>, keptMs: (tookMs: number) => number) {
    this.#clock = clock;
    this.#keptMs = keptMs;
  }

  /** Whoever gives up on a read that takes long leaves it to those who ask next. */
  get(read: () => Promise<T>): Promise<T> {
    const { until = Number.POSITIVE_INFINITY } = this.#reading ?? {};
    if (this.#reading === undefined || this.#clock.monotonic() >= until) this.#reading = this.#begin(read);
    return this.#reading.found;
  }

  /** Something was changed: the next one reads anew. */
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
      // It may be large, and nobody may ask again.
      setTimeout(drop, keptMs).unref();
    }, drop);
    return reading;
  }
}
