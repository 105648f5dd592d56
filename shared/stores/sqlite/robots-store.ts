import {
  bytesOfRules,
  FAILURES_KEPT_MS,
  type RobotsStore,
  type RobotsWay,
  WAY_KEPT_MS,
} from '../../ports/robots-store.ts';
import type { Clock } from '../../runtime/clock.ts';
import { ExpiringMap } from '../../runtime/expiring-map.ts';
import type { RobotsRules } from '../../task/robots/robots-match.ts';

const MAX_ENTRIES = 1_000_000;
/** What was not asked for longest is asked for again. */
const MAX_BYTES = 128_000_000;
const SMALL_BYTES = 100;

/** The robots.txt of one process' origins. It can't see what other processes know. */
export class LocalRobotsStore implements RobotsStore {
  readonly #rules: ExpiringMap<RobotsRules>;
  readonly #claims: ExpiringMap<true>;
  readonly #failures: ExpiringMap<number>;
  readonly #ways: ExpiringMap<RobotsWay>;

  constructor({ clock }: { readonly clock: Clock }) {
    const limits = { clock, maxEntries: MAX_ENTRIES, maxBytes: MAX_BYTES };
    this.#rules = new ExpiringMap(limits);
    this.#claims = new ExpiringMap(limits);
    this.#failures = new ExpiringMap(limits);
    this.#ways = new ExpiringMap(limits);
  }

  async find(origin: string): Promise<RobotsRules | undefined> {
    return this.#rules.get(origin);
  }

  async claim(origin: string, forMs: number): Promise<boolean> {
    if (this.#claims.get(origin) === true) return false;
    this.#claims.set(origin, true, { ttlMs: forMs, bytes: SMALL_BYTES });
    return true;
  }

  async dropClaim(origin: string): Promise<void> {
    this.#claims.delete(origin);
  }

  async keep(origin: string, rules: RobotsRules, forMs: number): Promise<void> {
    this.#rules.set(origin, rules, { ttlMs: forMs, bytes: bytesOfRules(rules) });
    this.#failures.delete(origin);
    this.#ways.delete(origin);
  }

  async fail(origin: string): Promise<number> {
    const failures = (this.#failures.get(origin) ?? 0) + 1;
    this.#failures.set(origin, failures, { ttlMs: FAILURES_KEPT_MS, bytes: SMALL_BYTES });
    this.#ways.delete(origin);
    return failures;
  }

  async way(origin: string): Promise<RobotsWay | undefined> {
    return this.#ways.get(origin);
  }

  async keepWay(origin: string, way: RobotsWay): Promise<void> {
    const bytes = way.redirects.reduce((sum, url) => sum + url.length, SMALL_BYTES);
    this.#ways.set(origin, way, { ttlMs: WAY_KEPT_MS, bytes });
  }
}
