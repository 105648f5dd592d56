import {
  bytesOfRules,
  FAILURES_KEPT_MS,
  type RobotsStore,
  type RobotsWay,
  WAY_KEPT_MS,
} from '../../ports/robots-store.ts';
import type { Clock } from '../../runtime/clock.ts';
import { ExpiringCache } from '../../runtime/collections/expiring-cache.ts';
import type { RobotsRules } from '../../task/robots/robots-match.ts';

/** Beyond this, the least recently used rules are dropped, and fetched again when needed. */
const MAX_BYTES = 128_000_000;
const SMALL_BYTES = 100;

/** The robots.txt of one process' origins. It can't see what other processes know. */
export class LocalRobotsStore implements RobotsStore {
  readonly #rules: ExpiringCache<RobotsRules>;
  readonly #locks: ExpiringCache<true>;
  readonly #failures: ExpiringCache<number>;
  readonly #ways: ExpiringCache<RobotsWay>;

  constructor({ clock }: { readonly clock: Clock }) {
    const limits = { clock, maxSize: MAX_BYTES };
    this.#rules = new ExpiringCache(limits);
    this.#locks = new ExpiringCache(limits);
    this.#failures = new ExpiringCache(limits);
    this.#ways = new ExpiringCache(limits);
  }

  async find(origin: string): Promise<RobotsRules | undefined> {
    return this.#rules.get(origin);
  }

  async lock(origin: string, forMs: number): Promise<boolean> {
    if (this.#locks.get(origin) === true) return false;
    this.#locks.keep(origin, true, forMs, SMALL_BYTES);
    return true;
  }

  async unlock(origin: string): Promise<void> {
    this.#locks.delete(origin);
  }

  async keep(origin: string, rules: RobotsRules, forMs: number): Promise<void> {
    this.#rules.keep(origin, rules, forMs, bytesOfRules(rules));
    this.#failures.delete(origin);
    this.#ways.delete(origin);
  }

  async fail(origin: string): Promise<number> {
    const failures = (this.#failures.get(origin) ?? 0) + 1;
    this.#failures.keep(origin, failures, FAILURES_KEPT_MS, SMALL_BYTES);
    this.#ways.delete(origin);
    return failures;
  }

  async way(origin: string): Promise<RobotsWay | undefined> {
    return this.#ways.get(origin);
  }

  async keepWay(origin: string, way: RobotsWay): Promise<void> {
    const bytes = way.redirects.reduce((sum, url) => sum + url.length, SMALL_BYTES);
    this.#ways.keep(origin, way, WAY_KEPT_MS, bytes);
  }
}
