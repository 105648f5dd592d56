import { HOUR_MS } from '../task/durations.ts';
import type { RobotsRules } from '../task/robots/robots-match.ts';

/**
 * The rules of robots.txt by origin (scheme, hostname, port), shared by the whole fleet.
 *
 * Its locks decide who fetches an unknown robots.txt. A lock expires, so a dead holder blocks others only briefly. Two
 * holders at once cost a second request, nothing else. If the store can't answer, every method rejects and nothing is
 * fetched: politeness fails closed.
 *
 * Implementations: `stores/redis/cache/robots-store.ts` for a fleet, `stores/sqlite/robots-store.ts` for one machine.
 */
export interface RobotsStore {
  /** Returns the rules of an origin, unless they are unknown or have expired. */
  find(origin: string): Promise<RobotsRules | undefined>;
  /** Returns whether the caller may fetch the robots.txt. If so, nobody else may, for `forMs` or until the lock is dropped. */
  lock(origin: string, forMs: number): Promise<boolean>;
  unlock(origin: string): Promise<void>;
  /** Keeps rules, and forgets failures. */
  keep(origin: string, rules: RobotsRules, forMs: number): Promise<void>;
  /** Counts a failed fetch. Returns the number of failures in a row, which resets after {@link FAILURES_KEPT_MS} without one. */
  fail(origin: string): Promise<number>;
  /** Returns the progress of a request that is being redirected; `undefined` once it has succeeded or failed. */
  way(origin: string): Promise<RobotsWay | undefined>;
  /** Keeps the progress of a request for {@link WAY_KEPT_MS}. */
  keepWay(origin: string, way: RobotsWay): Promise<void>;
}

/** Progress of a request for a robots.txt whose redirects lead to a host that makes it wait. */
export interface RobotsWay {
  /** The URLs that redirects have led to, in order. The last one is requested next. */
  readonly redirects: readonly string[];
  /** How often in a row the last URL's host, if it isn't the origin's, had no turn for the request. */
  readonly waits: number;
}

/** Time for which a request's progress is kept: longer than any of its waits. */
export const WAY_KEPT_MS = HOUR_MS;

/** Time after which failures are forgotten if no more follow: longer than any pause. */
export const FAILURES_KEPT_MS = 4 * HOUR_MS;

/** Returns the approximate number of bytes that rules take in memory. */
export function bytesOfRules({ allow, disallow }: RobotsRules): number {
  let bytes = 300;
  for (const patterns of [allow, disallow]) for (const pattern of patterns) bytes += pattern.length + 40;
  return bytes;
}
