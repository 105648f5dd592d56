/** Random choices that are the same for the same seed. */
export class SeededRandom {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A number from 0 to below 1 (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from 0 to below `end`. */
  below(end: number): number {
    return Math.floor(this.next() * end);
  }

  /** `true` with this probability. */
  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(among: readonly T[]): T {
    const picked = among[this.below(among.length)];
    if (picked === undefined) throw new Error('nothing to pick from');
    return picked;
  }

  /** The results of `make`, called `least` to `most` times. */
  list<T>(least: number, most: number, make: (n: number) => T): T[] {
    return Array.from({ length: least + this.below(most - least + 1) }, (_, n) => make(n));
  }
}
