import {
  FIRST_WINDOW,
  LATE_MS,
  LEAST_WINDOW_SHARE,
  WINDOW_EVERY_MS,
  WINDOW_GROWS_TO,
  WINDOW_SHRINKS_TO,
} from '../../policy.ts';

/**
 * How much of the window of release may be used: see `usable_window` in `window.lua`, which follows the same rules. Here it doesn't
 * matter how long a call takes: calls that wait for one transaction share the next one.
 */
export class UsableWindow {
  #size = FIRST_WINDOW;
  #lookedAt = 0;
  #lateAt = Number.NEGATIVE_INFINITY;
  #hasShrunk = false;

  /** Notes how long after its release a delivery was admitted. */
  admitted(afterMs: number, now: number): void {
    if (afterMs > LATE_MS) this.#lateAt = now;
  }

  /** Returns the usable size. @param out number of tasks that are out now */
  size(most: number, out: number, now: number): number {
    if (most <= FIRST_WINDOW) return most;
    const size = Math.min(most, this.#size);
    if (Math.abs(now - this.#lookedAt) < WINDOW_EVERY_MS) return size;
    this.#size = Math.min(most, Math.max(FIRST_WINDOW, this.#next(size, most, out, now)));
    const isFirst = this.#size === FIRST_WINDOW;
    if (isFirst) this.#hasShrunk = false;
    this.#lookedAt = isFirst ? 0 : now;
    return this.#size;
  }

  #next(size: number, most: number, out: number, now: number): number {
    const isLate = now - this.#lateAt < WINDOW_EVERY_MS;
    const least = Math.floor(most * LEAST_WINDOW_SHARE);
    if (isLate && size > Math.max(FIRST_WINDOW, least)) {
      this.#hasShrunk = true;
      return Math.max(least, Math.floor(Math.min(size, out) * WINDOW_SHRINKS_TO));
    }
    if (out < size / 2) return Math.floor(size / 2);
    if (out < size / WINDOW_GROWS_TO || (isLate && size >= least)) return size;
    return Math.floor(size * (this.#hasShrunk ? WINDOW_GROWS_TO : 2));
  }
}
