import type { FoundLetter } from '../../shared/control/letter-filter.ts';
import { browseLetters } from '../../shared/control/letter-list.ts';
import type { DeadLetters } from '../../shared/ports/transport.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { SECOND_MS } from '../../shared/task/durations.ts';
import type { Link } from './link.ts';

/** A browse reads the whole queue: its answer serves all who ask while it is read, and within this time after that. */
const KEPT_MS = 10 * SECOND_MS;

interface Browse {
  readonly found: Promise<readonly FoundLetter[]>;
  /** Left out while it is read. */
  until?: number;
}

/** One browse of the dead letters at a time, kept for a while. */
export class LetterBrowser {
  readonly #link: Link;
  readonly #clock: Clock;
  #browse: Browse | undefined;

  constructor(link: Link, clock: Clock) {
    this.#link = link;
    this.#clock = clock;
  }

  /** Whoever gives up on a browse that takes long leaves it to those who ask next. */
  browse(): Promise<readonly FoundLetter[]> {
    return this.#link.withLetters((letters) => {
      const { until = Number.POSITIVE_INFINITY } = this.#browse ?? {};
      if (this.#browse === undefined || this.#clock.now() >= until) this.#browse = this.#read(letters);
      return this.#browse.found;
    });
  }

  /** Something was changed: the next browse reads anew. */
  forget(): void {
    this.#browse = undefined;
  }

  #read(letters: DeadLetters): Browse {
    const browse: Browse = { found: browseLetters(letters) };
    const drop = (): void => {
      if (this.#browse === browse) this.forget();
    };
    browse.found.then(() => {
      browse.until = this.#clock.now() + KEPT_MS;
      // A hundred thousand letters take hundreds of megabytes, and nobody may ask again.
      setTimeout(drop, KEPT_MS).unref();
    }, drop);
    return browse;
  }
}
