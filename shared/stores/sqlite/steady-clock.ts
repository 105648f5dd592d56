import type { Clock } from '../../runtime/clock.ts';
import { DAY_MS, MINUTE_MS } from '../../task/durations.ts';

/** Pace of a time that is ahead of the machine's clock, so that the clock catches up. */
const PACE_AHEAD = 0.9;
/** A time that is further ahead is not continued: until the clock caught up, changes of pages would seem older than their last fetch. */
const MOST_AHEAD_MS = DAY_MS;
/** A clock that never goes back, whatever the machine's clock does: the counterpart of `now` in `prelude.lua`. */
export class SteadyClock implements Clock {
  readonly #clock: Clock;
  #seen = 0;
  /** How far it was ahead of the machine's clock at `#seen`. */
  #ahead = 0;
  /** The time to continue from, and when it was given, by a clock that nobody sets. */
  #from = { time: 0, at: 0 };

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Makes this clock show at least `time` from now on: the time of another process, whose clock may have been ahead. Otherwise, the
   * slots and retries that it stored would lie in the future for that long.
   *
   * @returns `false` if `time` is too far ahead
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

/** A process that crawls asks for the time again and again. If it hasn't for this long, it was stopped. */
const STOPPED_MS = MINUTE_MS;

/** Returns a clock whose monotonic time stands still while the process is stopped, by Ctrl-Z or `docker pause`; for processes that crawl. */
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
