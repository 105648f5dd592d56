import type { PageHold } from '../ports/fetcher.ts';

/** The longest that a timer of Node.js can be set to. */
const LONGEST_TIMER_MS = 2_147_483_647;

/**
 * The time that a request has taken, its tries included. It stands still while the request waits for this process, for memory
 * or for its turn to connect: that is no fault of the host, and uses up none of its time-outs.
 */
export class RequestClock {
  readonly #hold: Pick<PageHold, 'waitedMs'> | undefined;
  #startedAt = performance.now();
  #pausedAt: number | undefined;
  #alarmAtMs = 0;
  #onAlarm: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** @param hold told how long the request waited */
  constructor(hold?: Pick<PageHold, 'waitedMs'>) {
    this.#hold = hold;
  }

  get elapsedMs(): number {
    return (this.#pausedAt ?? performance.now()) - this.#startedAt;
  }

  /** Calls `onAlarm` when the clock shows `atMs`, and whoever had set it before is not called. */
  setAlarm(atMs: number, onAlarm: () => void): void {
    clearTimeout(this.#timer);
    this.#alarmAtMs = atMs;
    this.#onAlarm = onAlarm;
    this.#arm();
  }

  /** Takes an alarm back, unless another has taken its place: a try that was given up may end after the next one began. */
  clearAlarm(onAlarm: () => void): void {
    if (this.#onAlarm !== onAlarm) return;
    clearTimeout(this.#timer);
    this.#onAlarm = undefined;
  }

  pause(): void {
    if (this.#pausedAt !== undefined) return;
    this.#pausedAt = performance.now();
    clearTimeout(this.#timer);
  }

  resume(): void {
    if (this.#pausedAt === undefined) return;
    const waitedMs = performance.now() - this.#pausedAt;
    this.#pausedAt = undefined;
    this.#startedAt += waitedMs;
    if (this.#hold !== undefined) this.#hold.waitedMs += waitedMs;
    this.#arm();
  }

  #arm(): void {
    if (this.#onAlarm === undefined || this.#pausedAt !== undefined) return;
    const leftMs = Math.max(0, this.#alarmAtMs - this.elapsedMs);
    this.#timer = setTimeout(this.#onAlarm, Math.min(leftMs, LONGEST_TIMER_MS));
  }
}
