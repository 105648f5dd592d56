import { LATE_MS, LEAST_WINDOW, WINDOW_EVERY_MS, WINDOW_GROWS_TO, WINDOW_SHRINKS_TO } from '../../policy.ts';

/** How much of the window of release may be used: see `usable_window` in `release.lua`, which goes by the same rules. */
export class UsableWindow {
  #size = LEAST_WINDOW;
  #lookedAt = 0;
  #lateAt = Number.NEGATIVE_INFINITY;
  #hasShrunk = false;

  /** A delivery was admitted so long after its release. */
  admitted(afterMs: number, now: number): void {
    if (afterMs > LATE_MS) this.#lateAt = now;
  }

  /** @param out tasks that are out now */
  size(most: number, out: number, now: number): number {
    if (most <= LEAST_WINDOW) return most;
    const size = Math.min(most, this.#size);
    if (Math.abs(now - this.#lookedAt) < WINDOW_EVERY_MS) return size;
    this.#size = Math.min(most, Math.max(LEAST_WINDOW, this.#next(size, out, now)));
    this.#lookedAt = now;
    if (this.#size > LEAST_WINDOW) return this.#size;
    this.#hasShrunk = false;
    this.#lookedAt = 0;
    return this.#size;
  }

  #next(size: number, out: number, now: number): number {
    if (now - this.#lateAt < WINDOW_EVERY_MS) {
      this.#hasShrunk = true;
      return Math.floor(Math.min(size, out) * WINDOW_SHRINKS_TO);
    }
    if (out < size / 2) return Math.floor(size / 2);
    if (out < size / WINDOW_GROWS_TO) return size;
    return Math.ceil(size * (this.#hasShrunk ? WINDOW_GROWS_TO : 2));
  }
}
