/** Number of looks in a row that have to be slow before Redis counts as busy. */
const LOOKS_TIMED = 5;
/** A single look is enough if it takes this much longer: no process is busy that long without a pause, so it is Redis. */
const LONG_LOOK_MS = 250;

/**
 * Measures how much longer than necessary Redis takes for a look. The quickest look so far is the necessary time, since it includes
 * the distance to Redis, which doesn't make Redis busy.
 */
export class LookLag {
  readonly #last: number[] = [];
  #quickest = Number.POSITIVE_INFINITY;

  /** Notes how long a look took. */
  took(ms: number): void {
    this.#quickest = Math.min(this.#quickest, ms);
    if (this.#last.push(ms) > LOOKS_TIMED) this.#last.shift();
  }

  /** The lag in whole milliseconds, by the shortest of the last looks: this process may have been busy in some, but Redis is in all. */
  get ms(): number {
    const last = (this.#last.at(-1) ?? 0) - this.#quickest;
    if (last >= LONG_LOOK_MS) return Math.round(last);
    return this.#last.length < LOOKS_TIMED ? 0 : Math.round(Math.min(...this.#last) - this.#quickest);
  }
}
