import { HOUR_MS } from '../task/durations.ts';
import type { RobotsRules } from '../task/robots/robots-match.ts';

/**
 * What is known of the robots.txt of each origin (scheme, hostname, port), for the whole fleet at once.
 *
 * It also decides who fetches an unknown one: whoever holds the lock. A lock expires, so that a dead holder blocks others
 * only briefly; two holders at once cost a second request, nothing else. If the store can't answer, every
 * method rejects and nothing is fetched: politeness fails closed.
 *
 * Implementations: `stores/redis/cache/robots-store.ts` for a fleet, `stores/sqlite/robots-store.ts` for one machine.
 */
export interface RobotsStore {
  /** The rules that were kept, until their time is over. */
  find(origin: string): Promise<RobotsRules | undefined>;
  /** May the caller fetch it? If so, nobody else may, for this long or until the lock is dropped. */
  lock(origin: string, forMs: number): Promise<boolean>;
  unlock(origin: string): Promise<void>;
  /** Keeps rules, and forgets failures. */
  keep(origin: string, rules: RobotsRules, forMs: number): Promise<void>;
  /** It could not be fetched. Returns how often in a row; the count is forgotten after a few hours without another failure. */
  fail(origin: string): Promise<number>;
  /** How far the request for it has come; nothing once it has succeeded or failed. */
  way(origin: string): Promise<RobotsWay | undefined>;
  /** Keeps how far it has come, for {@link WAY_KEPT_MS}. */
  keepWay(origin: string, way: RobotsWay): Promise<void>;
}

/** How far the request for a robots.txt has come whose redirects lead to a host that makes it wait. */
export interface RobotsWay {
  /** The URLs that redirects have led to, in order; the last one is asked next. */
  readonly redirects: readonly string[];
  /** How often in a row the host of the last one, if not the origin's, had no turn for it. */
  readonly waits: number;
}

/** Longer than any wait on the way. */
export const WAY_KEPT_MS = HOUR_MS;

/** How long failures are remembered without another: longer than any pause. */
export const FAILURES_KEPT_MS = 4 * HOUR_MS;

/** About how many bytes rules take in memory. */
export function bytesOfRules({ allow, disallow }: RobotsRules): number {
  let bytes = 300;
  for (const patterns of [allow, disallow]) for (const pattern of patterns) bytes += pattern.length + 40;
  return bytes;
}
