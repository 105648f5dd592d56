import type { Redis } from 'ioredis';
import type { MemoryUse, StoreMemory } from '../../ports/store-memory.ts';

/** Who is offering: a producer can wait; a worker's links come from a page that was fetched already. */
export type Offerer = 'producer' | 'worker';

/** Shares of `maxmemory` from which on offers wait, to leave room for the work that drains a full Redis. */
const FULL_AT: Readonly<Record<Offerer, number>> = { producer: 0.8, worker: 0.95 };
const READ_EVERY_MS = 500;

/** Watches how full Redis is. One read serves all callers within half a second. */
export class RedisMemory implements StoreMemory {
  readonly #redis: Redis;
  #used = 0;
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;

  constructor(redis: Redis) {
    this.#redis = redis;
  }

  async isFull(offerer: Offerer): Promise<boolean> {
    if (performance.now() - this.#readAt > READ_EVERY_MS) {
      this.#reading ??= this.#read().finally(() => {
        this.#reading = undefined;
      });
      await this.#reading;
    }
    return this.#used >= FULL_AT[offerer];
  }

  async memory(): Promise<MemoryUse> {
    const info = await this.#redis.info('memory');
    const field = (pattern: RegExp): number => Number(pattern.exec(info)?.[1] ?? 0);
    return { usedBytes: field(/^used_memory:(\d+)/m), limitBytes: field(/^maxmemory:(\d+)/m) };
  }

  async #read(): Promise<void> {
    const { usedBytes, limitBytes } = await this.memory();
    this.#used = limitBytes === 0 ? 0 : usedBytes / limitBytes;
    this.#readAt = performance.now();
  }
}
