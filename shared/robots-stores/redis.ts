import type { Redis } from 'ioredis';
import { FAILURES_KEPT_MS, type RobotsStore } from '../robots-store.ts';
import type { RobotsRules } from '../task/robots-match.ts';

interface RedisRobotsStoreOptions {
  readonly redis: Redis;
  readonly prefix: string;
}

/**
 * The robots.txt of a fleet's origins, each in three strings that expire by themselves.
 *
 * | key                         | what                                                             |
 * |-----------------------------|------------------------------------------------------------------|
 * | `robots:<origin>`           | the rules that are meant for us, as JSON                         |
 * | `robots-claim:<origin>`     | somebody is asking for it                                        |
 * | `robots-failures:<origin>`  | how often in a row it could not be had                           |
 *
 * While Redis is full nothing is kept, and each process asks for itself: what is there has to drain.
 */
export class RedisRobotsStore implements RobotsStore {
  readonly #redis: Redis;
  readonly #prefix: string;

  constructor({ redis, prefix }: RedisRobotsStoreOptions) {
    this.#redis = redis;
    this.#prefix = prefix;
  }

  async find(origin: string): Promise<RobotsRules | undefined> {
    const value = await this.#redis.get(this.#key('robots', origin));
    return value === null ? undefined : readRules(value);
  }

  async claim(origin: string, forMs: number): Promise<boolean> {
    const key = this.#key('robots-claim', origin);
    return (await unlessFull(this.#redis.set(key, '1', 'PX', Math.ceil(forMs), 'NX'), 'OK')) === 'OK';
  }

  async dropClaim(origin: string): Promise<void> {
    await this.#redis.del(this.#key('robots-claim', origin));
  }

  async keep(origin: string, { allow, disallow, crawlDelayMs }: RobotsRules, forMs: number): Promise<void> {
    const value = JSON.stringify({ allow, disallow, crawlDelayMs } satisfies Partial<
      Record<keyof RobotsRules, unknown>
    >);
    await Promise.all([
      unlessFull(this.#redis.set(this.#key('robots', origin), value, 'PX', Math.ceil(forMs)), 'OK'),
      this.#redis.del(this.#key('robots-failures', origin)),
    ]);
  }

  async fail(origin: string): Promise<number> {
    const key = this.#key('robots-failures', origin);
    const counted = unlessFull(this.#redis.incr(key), 1);
    const [failures] = await Promise.all([counted, this.#redis.pexpire(key, FAILURES_KEPT_MS)]);
    return failures;
  }

  #key(name: 'robots' | 'robots-claim' | 'robots-failures', origin: string): string {
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

/** Reads what `keep` wrote; nothing if it was something else: then it is asked for anew. */
function readRules(value: string): RobotsRules | undefined {
  let rules: Partial<RobotsRules> | null;
  try {
    rules = JSON.parse(value);
  } catch {
    return undefined;
  }
  const { allow, disallow, crawlDelayMs } = rules ?? {};
  if (!isPatterns(allow) || !isPatterns(disallow)) return undefined;
  return { allow, disallow, ...(typeof crawlDelayMs === 'number' ? { crawlDelayMs } : {}) };
}

function isPatterns(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((pattern) => typeof pattern === 'string');
}
