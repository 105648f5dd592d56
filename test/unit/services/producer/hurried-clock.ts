import type { Clock } from '../../../../shared/runtime/clock.ts';

/** A clock whose sleeps end at once and move its time on by their length. */
export class HurriedClock implements Clock {
  #now = 1_800_000_000_000;
  /** Every sleep, in milliseconds. */
  readonly sleeps: number[] = [];

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#now;
  }

  async sleep(ms: number): Promise<void> {
    this.sleeps.push(ms);
    this.#now += ms;
  }
}
