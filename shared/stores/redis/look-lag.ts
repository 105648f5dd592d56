/** Looks that have to be slow before Redis counts as busy. */
const LOOKS_TIMED = 5;
/** One that takes so much longer is enough: no process is busy for so long, without a pause, that only it would be to blame. */
const LONG_LOOK_MS = 250;

/**
 * How much longer than it has to Redis takes for a look. The quickest look so far says what it has to: how far away Redis is does
 * not make it busy.
 */
export class LookLag {
  readonly #last: number[] = [];
  #quickest = Number.POSITIVE_INFINITY;

  /** Notes how long a look took. */
  took(ms: number): void {
    this.#quickest = Math.min(this.#quickest, ms);
    if (this.#last.push(ms) > LOOKS_TIMED) this.#last.shift();
  }

  /** Of the last looks, the shortest: this process may have been busy during some of them, Redis is busy in all. Whole milliseconds. */
  get ms(): number {
    const last = (this.#last.at(-1) ?? 0) - this.#quickest;
    if (last >= LONG_LOOK_MS) return Math.round(last);
    return this.#last.length < LOOKS_TIMED ? 0 : Math.round(Math.min(...this.#last) - this.#quickest);
  }
}
