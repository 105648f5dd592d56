import { duration } from '../../shared/control/format.ts';
import type { FoundLetter } from '../../shared/control/letters/letter-filter.ts';
import { browseLetters } from '../../shared/control/letters/letter-list.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { SECOND_MS } from '../../shared/task/durations.ts';
import { ANSWER_MS, type Link } from './link.ts';
import { SharedRead } from './shared-read.ts';

/**
 * A browse is kept this long, or nine times as long as it took if that is longer. It reads the whole queue: a hundred thousand letters take
 * ten seconds, and somebody who turns pages would wait for that again and again.
 */
const KEPT_MS = 10 * SECOND_MS;
const KEPT_FOR_EACH_MS = 9;
/** The next caller joins the same read. */
const READ_GOES_ON = `reading the dead letters takes longer than ${duration(ANSWER_MS)}, and goes on: ask again in a few seconds`;

/** Browses the dead letters, one browse at a time, and keeps the result for a while. */
export class LetterBrowser {
  readonly #link: Link;
  readonly #browse: SharedRead<readonly FoundLetter[]>;
  #browsing = 0;
  /** The last count taken while no browse was under way. */
  #count = 0;

  constructor(link: Link, clock: Clock) {
    this.#link = link;
    this.#browse = new SharedRead(clock, (tookMs) => Math.max(KEPT_MS, tookMs * KEPT_FOR_EACH_MS));
  }

  /** Returns the dead letters, at most as many as one browse reads. */
  browse(): Promise<readonly FoundLetter[]> {
    return this.#link.withLetters(
      (letters) =>
        this.#browse.get(async () => {
          this.#browsing++;
          try {
            return await browseLetters(letters);
          } finally {
            this.#browsing--;
          }
        }),
      { late: READ_GOES_ON },
    );
  }

  /** Counts the dead letters without reading them. The broker doesn't count those being browsed: meanwhile the last count stands in. */
  async count(): Promise<number> {
    const { isLocal } = this.#link;
    if (isLocal) return (await this.#link.withStores(async ({ letters }) => await letters?.count())) ?? 0;
    const { ready = 0 } = (await this.#link.depths())?.failed ?? {};
    if (this.#browsing === 0) this.#count = ready;
    return Math.max(this.#count, ready);
  }

  /** Drops the result after a change: the next browse reads again. */
  forget(): void {
    this.#browse.forget();
  }
}
