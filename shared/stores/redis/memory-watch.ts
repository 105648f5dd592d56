import type { Redis } from 'ioredis';
import { FULL_AT, FULL_FOR_OTHERS_AT, type MemoryUse, type StoreMemory } from '../../ports/frontier/store-memory.ts';

/** The writer that asks: a producer can wait, a worker has already fetched the page with its links, and a cache can do without. */
type Writer = 'producer' | 'worker' | 'cache';

/** Shares of `maxmemory` from which on offers wait and a cache keeps nothing. The cache stops first, so that nobody waits because of it. */
const SHARES: Readonly<Record<Writer, number>> = { producer: FULL_FOR_OTHERS_AT, worker: FULL_AT, cache: 0.6 };
const READ_EVERY_MS = 500;

/** Watches how full Redis is. One read serves all callers within half a second. */
export class RedisMemory implements StoreMemory {
  readonly #redis: Redis;
  #use: MemoryUse = { usedBytes: 0, limitBytes: 0 };
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;

  constructor(redis: Redis) {
    this.#redis = redis;
  }

  async isFull(writer: Writer): Promise<boolean> {
    const { usedBytes, limitBytes } = await this.recent();
    return limitBytes > 0 && usedBytes >= limitBytes * SHARES[writer];
  }

  /** Memory use as of the last half second. */
  async recent(): Promise<MemoryUse> {
    if (performance.now() - this.#readAt > READ_EVERY_MS) {
      this.#reading ??= this.#read().finally(() => {
        this.#reading = undefined;
      });
      await this.#reading;
    }
    return this.#use;
  }

  async memory(): Promise<MemoryUse> {
    const info = await this.#redis.info('memory');
    const field = (pattern: RegExp): number => Number(pattern.exec(info)?.[1] ?? 0);
    return { usedBytes: field(/^used_memory:(\d+)/m), limitBytes: field(/^maxmemory:(\d+)/m) };
  }

  async #read(): Promise<void> {
    this.#use = await this.memory();
    this.#readAt = performance.now();
  }
}
