import type { FoundLetter } from '../../shared/control/letters/letter-filter.ts';
import { browseLetters } from '../../shared/control/letters/letter-list.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { SECOND_MS } from '../../shared/task/durations.ts';
import type { Link } from './link.ts';
import { SharedRead } from './shared-read.ts';

/** A browse reads the whole queue, and a hundred thousand letters take hundreds of megabytes: its answer is kept this long. */
const KEPT_MS = 10 * SECOND_MS;

/** One browse of the dead letters at a time, kept for a while. */
export class LetterBrowser {
  readonly #link: Link;
  readonly #browse: SharedRead<readonly FoundLetter[]>;
  #browsing = 0;
  /** As last counted while none were browsed. */
  #count = 0;

  constructor(link: Link, clock: Clock) {
    this.#link = link;
    this.#browse = new SharedRead(clock, () => KEPT_MS);
  }

  /** As many of them as are looked through. */
  browse(): Promise<readonly FoundLetter[]> {
    return this.#link.withLetters((letters) =>
      this.#browse.get(async () => {
        this.#browsing++;
        try {
          return await browseLetters(letters);
        } finally {
          this.#browsing--;
        }
      }),
    );
  }

  /** How many there are, without reading any. A queue doesn't count those that are just being browsed: then it is as many as before. */
  async count(): Promise<number> {
    const { isLocal } = this.#link;
    if (isLocal) return (await this.#link.withStores(async ({ letters }) => await letters?.count())) ?? 0;
    const { ready = 0 } = (await this.#link.depths())?.failed ?? {};
    if (this.#browsing === 0) this.#count = ready;
    return Math.max(this.#count, ready);
  }

  /** Something was changed: the next browse reads anew. */
  forget(): void {
    this.#browse.forget();
  }
}
