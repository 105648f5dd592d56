/**
 * Time, as a dependency. Only the embedded implementations and the pacing of loops read it. In a fleet, Redis' own time
 * decides.
 */
export interface Clock {
  /** Returns epoch milliseconds by the machine's clock, which can be set at any moment. For times that are stored or shown. */
  now(): number;
  /** Returns milliseconds since a fixed moment, unaffected by changes of the machine's clock. For durations in this process. */
  monotonic(): number;
  /** Resolves after `ms` (soon if that is 0 or less), or as soon as `signal` is aborted. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Longest delay of a Node.js timer. */
const LONGEST_TIMER_MS = 2_147_483_647;

/** The machine's clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep(ms, signal) {
    if (signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const finish = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', finish);
        resolve();
      };
      let timer: NodeJS.Timeout | undefined;
      // Given a negative delay, or one that is too long for a timer, Node.js would print a warning and fire at once.
      const wait = (leftMs: number): void => {
        const turnMs = Math.min(Math.max(0, leftMs), LONGEST_TIMER_MS);
        timer = setTimeout(() => (leftMs > turnMs ? wait(leftMs - turnMs) : finish()), turnMs);
      };
      wait(ms);
      signal?.addEventListener('abort', finish, { once: true });
    });
  },
};
