import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../shared/runtime/clock.ts';

/** Callers remembered. Beyond this, the ones not seen for longest are forgotten. */
const MOST_REMEMBERED = 10_000;

/** A rate limit per caller: a burst of `atOnce`, refilled at `perSecond`. */
export class Allowance {
  readonly #perSecond: number;
  readonly #atOnce: number;
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** When each caller's full burst is available again. */
  readonly #fullAt = new LRUCache<string, number>({ max: MOST_REMEMBERED });

  constructor(perSecond: number, atOnce: number, clock: Pick<Clock, 'monotonic'>) {
    this.#perSecond = perSecond;
    this.#atOnce = atOnce;
    this.#clock = clock;
  }

  /** Takes one. Returns 0, or the milliseconds until one is available; then nothing was taken. */
  take(caller: string): number {
    const waitMs = this.waitMs(caller);
    if (waitMs > 0) return waitMs;
    const now = this.#clock.monotonic();
    this.#fullAt.set(caller, Math.max(this.#fullAt.get(caller) ?? 0, now) + 1_000 / this.#perSecond);
    return 0;
  }

  /** Returns the same as {@link take}, without taking any. */
  waitMs(caller: string): number {
    const fullAt = this.#fullAt.get(caller) ?? 0;
    return Math.max(0, fullAt - this.#clock.monotonic() - ((this.#atOnce - 1) / this.#perSecond) * 1_000);
  }
}
