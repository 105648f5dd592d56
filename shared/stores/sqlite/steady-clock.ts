import type { Clock } from '../../runtime/clock.ts';
import { DAY_MS, MINUTE_MS } from '../../task/durations.ts';

/** How fast time passes that is ahead of the machine's clock, which catches up meanwhile. */
const PACE_AHEAD = 0.9;
/** A time that is further ahead is not continued: while it lasted, changes of pages would be taken for older than their last fetch. */
const MOST_AHEAD_MS = DAY_MS;
/** A time that never goes back, whatever the machine's clock does: what `now` in `prelude.lua` is for Redis. */
export class SteadyClock implements Clock {
  readonly #clock: Clock;
  #seen = 0;
  /** How far it was ahead of the machine's clock at `#seen`. */
  #ahead = 0;
  /** A time that it was told to continue from, and when that was, by a clock that nobody sets. */
  #from = { time: 0, at: 0 };

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * It is at least `time`, from now on: that of another process, which may have had a clock that was ahead. Rates and retries that it
   * has stored would lie in the future for that long.
   *
   * @returns `false` if that is too far ahead
   */
  continueFrom(time: number): boolean {
    if (time - this.now() > MOST_AHEAD_MS) return false;
    this.#from = { time, at: performance.now() };
    return true;
  }

  now(): number {
    const { time, at } = this.#from;
    return Math.max(this.#own(), Math.floor(time + PACE_AHEAD * (performance.now() - at)));
  }

  #own(): number {
    const clock = this.#clock.now();
    const passed = clock - this.#seen;
    const ahead = passed < 0 ? this.#ahead - passed : Math.max(0, this.#ahead - Math.floor(passed / 10));
    if (passed < 0 || passed >= 100) {
      this.#seen = clock;
      this.#ahead = ahead;
    }
    return clock + ahead;
  }

  monotonic(): number {
    return this.#clock.monotonic();
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    await this.#clock.sleep(ms, signal);
  }
}

/** Whoever crawls asks for the time again and again: if it hasn't for this long, the process was stopped. */
const STOPPED_MS = MINUTE_MS;

/** A clock for a process that crawls: the time in which it was stopped, by Ctrl-Z or `docker pause`, is none that it saw pass. */
export function withoutStops(clock: Clock): Clock {
  let askedAt: number | undefined;
  let stoppedMs = 0;
  return {
    now: () => clock.now(),
    monotonic() {
      const now = clock.monotonic();
      const sinceMs = now - (askedAt ?? now);
      askedAt = now;
      if (sinceMs > STOPPED_MS) stoppedMs += sinceMs;
      return now - stoppedMs;
    },
    sleep: (ms, signal) => clock.sleep(ms, signal),
  };
}
