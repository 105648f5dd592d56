import type { RequestTimings } from '../ports/fetcher.ts';

/** The longest delay of a Node.js timer. */
const LONGEST_TIMER_MS = 2_147_483_647;

/**
 * How long a request has taken so far, with all its attempts. The clock is paused while the request waits for this process, that
 * is for memory or for its turn to connect: the host is not to blame for that time, and no time-out counts it.
 */
export class RequestClock {
  readonly #timings: RequestTimings | undefined;
  #startedAt = performance.now();
  #pausedAt: number | undefined;
  #alarmAtMs = 0;
  #onAlarm: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** @param timings of the request; filled in */
  constructor(timings?: RequestTimings) {
    this.#timings = timings;
  }

  get elapsedMs(): number {
    return (this.#pausedAt ?? performance.now()) - this.#startedAt;
  }

  /** Calls `onAlarm` when `elapsedMs` reaches `atMs`. Replaces the alarm before. */
  setAlarm(atMs: number, onAlarm: () => void): void {
    clearTimeout(this.#timer);
    this.#alarmAtMs = atMs;
    this.#onAlarm = onAlarm;
    this.#arm();
  }

  /** Cancels this alarm, unless it was replaced: an attempt that failed may end after the next one began. */
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
    if (this.#timings !== undefined) this.#timings.waitedMs += waitedMs;
    this.#arm();
  }

  /** The request is being written to a connection. */
  sent(): void {
    if (this.#timings === undefined) return;
    this.#timings.isSent = true;
    this.#timings.onSent();
  }

  /** The server closes the connection after its answer. */
  closing(): void {
    if (this.#timings !== undefined) this.#timings.isClosing = true;
  }

  #arm(): void {
    if (this.#onAlarm === undefined || this.#pausedAt !== undefined) return;
    const leftMs = Math.max(0, this.#alarmAtMs - this.elapsedMs);
    this.#timer = setTimeout(this.#onAlarm, Math.min(leftMs, LONGEST_TIMER_MS));
  }
}
