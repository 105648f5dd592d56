import type { Redis } from 'ioredis';
import { FAILURES_KEPT_MS, type RobotsStore, type RobotsWay, WAY_KEPT_MS } from '../../../ports/robots-store.ts';
import type { RobotsRules } from '../../../task/robots/robots-match.ts';
import { Scripts } from '../scripts.ts';

interface RedisRobotsStoreOptions {
  readonly redis: Redis;
  readonly prefix: string;
  /** Maximum total of all rules that have {@link LARGE_BYTES} or more; by default {@link MOST_LARGE_BYTES}. */
  readonly mostLargeBytes?: number;
}

/** Size from which on rules are large. Most sites' rules are smaller, and the number of hosts bounds their total. */
const LARGE_BYTES = 1_000;
const MOST_LARGE_BYTES = 64_000_000;

/**
 * The robots.txt of a fleet's origins, each in four strings that expire by themselves.
 *
 * | key                         | what                                                             |
 * |-----------------------------|------------------------------------------------------------------|
 * | `robots:<origin>`           | the rules that apply to us, as JSON                              |
 * | `robots-lock:<origin>`      | a process is fetching it                                         |
 * | `robots-failures:<origin>`  | failed fetches in a row                                          |
 * | `robots-way:<origin>`       | where its redirects have led so far, as JSON                     |
 *
 * Large rules take at most 64 MB: those closest to their expiry make room, and are fetched again when needed. While Redis is
 * full, nothing is kept and each process fetches for itself, so that Redis can drain.
 */
export class RedisRobotsStore implements RobotsStore {
  readonly #redis: Redis;
  readonly #prefix: string;
  readonly #scripts: Scripts;
  readonly #mostLargeBytes: number;

  constructor({ redis, prefix, mostLargeBytes = MOST_LARGE_BYTES }: RedisRobotsStoreOptions) {
    this.#redis = redis;
    this.#prefix = prefix;
    this.#scripts = new Scripts({ redis, prefix });
    this.#mostLargeBytes = mostLargeBytes;
  }

  async find(origin: string): Promise<RobotsRules | undefined> {
    const value = await this.#redis.get(this.#key('robots', origin));
    return value === null ? undefined : readRules(value);
  }

  async lock(origin: string, forMs: number): Promise<boolean> {
    const key = this.#key('robots-lock', origin);
    return (await unlessFull(this.#redis.set(key, '1', 'PX', Math.ceil(forMs), 'NX'), 'OK')) === 'OK';
  }

  async unlock(origin: string): Promise<void> {
    await this.#redis.del(this.#key('robots-lock', origin));
  }

  async keep(origin: string, { allow, disallow, crawlDelayMs, isOurs }: RobotsRules, forMs: number): Promise<void> {
    const value = JSON.stringify({ allow, disallow, crawlDelayMs, isOurs } satisfies Partial<
      Record<keyof RobotsRules, unknown>
    >);
    const keeping = [origin, value, Math.ceil(forMs), LARGE_BYTES, this.#mostLargeBytes] as const;
    await Promise.all([
      unlessFull(this.#scripts.run('keep_robots', ...keeping), 0),
      this.#redis.del(this.#key('robots-failures', origin), this.#key('robots-way', origin)),
    ]);
  }

  async fail(origin: string): Promise<number> {
    const key = this.#key('robots-failures', origin);
    const counted = unlessFull(this.#redis.incr(key), 1);
    const [failures] = await Promise.all([
      counted,
      this.#redis.pexpire(key, FAILURES_KEPT_MS),
      this.#redis.del(this.#key('robots-way', origin)),
    ]);
    return failures;
  }

  async way(origin: string): Promise<RobotsWay | undefined> {
    const value = await this.#redis.get(this.#key('robots-way', origin));
    return value === null ? undefined : readWay(value);
  }

  async keepWay(origin: string, { redirects, waits }: RobotsWay): Promise<void> {
    const value = JSON.stringify({ redirects, waits } satisfies RobotsWay);
    await unlessFull(this.#redis.set(this.#key('robots-way', origin), value, 'PX', WAY_KEPT_MS), 'OK');
  }

  #key(name: 'robots' | 'robots-lock' | 'robots-failures' | 'robots-way', origin: string): string {
    return `${this.#prefix}${name}:${origin}`;
  }
}

async function unlessFull<T, U>(reply: Promise<T>, otherwise: U): Promise<T | U> {
  try {
    return await reply;
  } catch (error: unknown) {
    if (error instanceof Error && error.message.startsWith('OOM')) return otherwise;
    throw error;
  }
}

/** Reads what `keep` wrote; undefined for anything else, and the rules are fetched again. */
function readRules(value: string): RobotsRules | undefined {
  const { allow, disallow, crawlDelayMs, isOurs } = parsed<RobotsRules>(value);
  if (!isTexts(allow) || !isTexts(disallow)) return undefined;
  return {
    allow,
    disallow,
    ...(typeof crawlDelayMs === 'number' ? { crawlDelayMs } : {}),
    ...(isOurs === true ? { isOurs } : {}),
  };
}

/** Reads what `keepWay` wrote; undefined for anything else, and the fetch starts over. */
function readWay(value: string): RobotsWay | undefined {
  const { redirects, waits } = parsed<RobotsWay>(value);
  return isTexts(redirects) && typeof waits === 'number' ? { redirects, waits } : undefined;
}

/** The fields of an object in JSON; none if it isn't one. */
function parsed<T>(value: string): Partial<T> {
  try {
    return (JSON.parse(value) as Partial<T> | null) ?? {};
  } catch {
    return {};
  }
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((pattern) => typeof pattern === 'string');
}
