import type { Clock } from '../../../shared/runtime/clock.ts';

/** A clock that moves only when a test says so. */
export class SteppedClock implements Clock {
  #now: number;
  /** Total milliseconds by which the machine's clock was set. */
  #set = 0;
  #sleepers: { readonly at: number; readonly wake: () => void }[] = [];

  constructor(startMs = 1_800_000_000_000) {
    this.#now = startMs;
  }

  now(): number {
    return this.#now + this.#set;
  }

  monotonic(): number {
    return this.#now;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted || ms <= 0) return Promise.resolve();
    return new Promise((resolve) => {
      const sleeper = { at: this.#now + ms, wake: resolve };
      this.#sleepers.push(sleeper);
      signal?.addEventListener('abort', () => resolve(), { once: true });
    });
  }

  /** Sets the machine's clock forwards or back; no time passes. */
  set(byMs: number): void {
    this.#set += byMs;
  }

  step(ms: number): void {
    this.#now += ms;
    const due = this.#sleepers.filter(({ at }) => at <= this.#now);
    this.#sleepers = this.#sleepers.filter(({ at }) => at > this.#now);
    for (const { wake } of due) wake();
  }
}
