/**
 * Time, as a dependency. Only the embedded implementations and the pacing of loops read it: in a fleet, Redis' own time
 * decides.
 */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Resolves after `ms`, soon if that is not above 0, or as soon as `signal` is aborted; it never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The machine's clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  sleep(ms, signal) {
    if (signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const finish = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', finish);
        resolve();
      };
      // Of a moment that is past, Node.js would warn.
      const timer = setTimeout(finish, Math.max(0, ms));
      signal?.addEventListener('abort', finish, { once: true });
    });
  },
};
