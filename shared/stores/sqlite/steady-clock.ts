import type { Clock } from '../../runtime/clock.ts';

/** A time that never goes back, whatever the machine's clock does: what `now` in `prelude.lua` is for Redis. */
export class SteadyClock implements Clock {
  readonly #clock: Clock;
  #seen = 0;
  /** How far it was ahead of the machine's clock at `#seen`. */
  #ahead = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    const clock = this.#clock.now();
    const passed = clock - this.#seen;
    const ahead = passed < 0 ? this.#ahead - passed : Math.max(0, this.#ahead - Math.floor(passed / 10));
    if (passed < 0 || passed >= 100) {
      this.#seen = clock;
      this.#ahead = ahead;
    }
    return clock + ahead;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    await this.#clock.sleep(ms, signal);
  }
}
