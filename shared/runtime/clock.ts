/**
 * Time, as a dependency. Only the embedded implementations and the pacing of loops read it: in a fleet, Redis' own time
 * decides.
 */
export interface Clock {
  /** Milliseconds since the epoch, by the machine's clock. Somebody may set that at any moment: for what is written down. */
  now(): number;
  /** Milliseconds since some moment, whatever is done to the machine's clock: for how long something takes or holds here. */
  monotonic(): number;
  /** Resolves after `ms`, soon if that is not above 0, or as soon as `signal` is aborted; it never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The longest delay of a timer of Node.js. */
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
      // Of a moment that is past, or further off than a timer can be, Node.js would warn, and wake at once.
      const wait = (leftMs: number): void => {
        const turnMs = Math.min(Math.max(0, leftMs), LONGEST_TIMER_MS);
        timer = setTimeout(() => (leftMs > turnMs ? wait(leftMs - turnMs) : finish()), turnMs);
      };
      wait(ms);
      signal?.addEventListener('abort', finish, { once: true });
    });
  },
};
