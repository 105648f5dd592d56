import type { FoundLetter } from '../../shared/control/letter-filter.ts';
import { browseLetters } from '../../shared/control/letter-list.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { SECOND_MS } from '../../shared/task/durations.ts';
import type { Link } from './link.ts';

/** A browse reads the whole queue: its answer serves all who ask within this time. */
const KEPT_MS = 10 * SECOND_MS;

/** One browse of the dead letters at a time, kept for a while. */
export class LetterBrowser {
  readonly #link: Link;
  readonly #clock: Clock;
  #kept: { readonly at: number; readonly found: Promise<readonly FoundLetter[]> } | undefined;

  constructor(link: Link, clock: Clock) {
    this.#link = link;
    this.#clock = clock;
  }

  browse(): Promise<readonly FoundLetter[]> {
    const now = this.#clock.now();
    if (this.#kept !== undefined && now - this.#kept.at < KEPT_MS) return this.#kept.found;
    const kept = { at: now, found: this.#link.withLetters(browseLetters) };
    kept.found.catch(() => {
      if (this.#kept === kept) this.forget();
    });
    this.#kept = kept;
    return kept.found;
  }

  /** Something was changed: the next browse reads anew. */
  forget(): void {
    this.#kept = undefined;
  }
}
