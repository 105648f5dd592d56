import type { RequestTimings } from '../ports/fetcher.ts';

/** The longest delay of a Node.js timer. */
const LONGEST_TIMER_MS = 2_147_483_647;

/**
 * The time a request has taken so far, over all its attempts. The clock is paused while the request waits for memory or for its turn to
 * connect: the host is not to blame for that time, so no time-out counts it.
 */
export class RequestClock {
  readonly #timings: RequestTimings | undefined;
  #startedAt = performance.now();
  #pausedAt: number | undefined;
  #alarmAtMs = 0;
  #onAlarm: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** @param timings the request's timings, filled in by the clock */
  constructor(timings?: RequestTimings) {
    this.#timings = timings;
  }

  get elapsedMs(): number {
    return (this.#pausedAt ?? performance.now()) - this.#startedAt;
  }

  /** Calls `onAlarm` when `elapsedMs` reaches `atMs`. Replaces the previous alarm. */
  setAlarm(atMs: number, onAlarm: () => void): void {
    clearTimeout(this.#timer);
    this.#alarmAtMs = atMs;
    this.#onAlarm = onAlarm;
    this.#arm();
  }

  /** Cancels this alarm unless it was replaced: a failed attempt can end after the next one began. */
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

  /** Notes that the request is being written to a connection. */
  sent(): void {
    if (this.#timings === undefined) return;
    this.#timings.isSent = true;
    this.#timings.onSent();
  }

  /** Notes that the server closes the connection after its answer. */
  closing(): void {
    if (this.#timings !== undefined) this.#timings.isClosing = true;
  }

  #arm(): void {
    if (this.#onAlarm === undefined || this.#pausedAt !== undefined) return;
    const leftMs = Math.max(0, this.#alarmAtMs - this.elapsedMs);
    this.#timer = setTimeout(this.#onAlarm, Math.min(leftMs, LONGEST_TIMER_MS));
  }
}
