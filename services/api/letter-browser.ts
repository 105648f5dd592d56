import type { FoundLetter } from '../../shared/control/letter-filter.ts';
import { browseLetters } from '../../shared/control/letter-list.ts';
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

  constructor(link: Link, clock: Clock) {
    this.#link = link;
    this.#browse = new SharedRead(clock, () => KEPT_MS);
  }

  browse(): Promise<readonly FoundLetter[]> {
    return this.#link.withLetters((letters) => this.#browse.get(() => browseLetters(letters)));
  }

  /** Something was changed: the next browse reads anew. */
  forget(): void {
    this.#browse.forget();
  }
}
