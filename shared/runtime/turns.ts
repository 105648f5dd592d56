import { Deque } from './collections/deque.ts';

/** Runs at most a given number of pieces of work at once. The others wait their turn, first come, first served. */
export class Turns {
  readonly #atOnce: number;
  readonly #line = new Deque<() => void>();
  #running = 0;

  constructor(atOnce: number) {
    this.#atOnce = atOnce;
  }

  /** Number of pieces of work that wait. */
  get waiting(): number {
    return this.#line.length;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running < this.#atOnce) this.#running++;
    else await new Promise<void>((begin) => this.#line.push(begin));
    try {
      return await work();
    } finally {
      const [next] = this.#line.take(1);
      if (next === undefined) this.#running--;
      else next();
    }
  }
}
