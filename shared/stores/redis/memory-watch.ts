import type { Redis } from 'ioredis';

/** Who is offering: a producer can wait; a worker's links come from a page that was fetched already. */
export type Offerer = 'producer' | 'worker';

/** Shares of `maxmemory` from which on offers wait, to leave room for the work that drains a full Redis. */
const FULL_AT: Readonly<Record<Offerer, number>> = { producer: 0.8, worker: 0.95 };
const READ_EVERY_MS = 500;

/** Watches how full Redis is. One read serves all callers within half a second. */
export class RedisMemory {
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

  async #read(): Promise<void> {
    const info = await this.#redis.info('memory');
    const max = Number(/^maxmemory:(\d+)/m.exec(info)?.[1] ?? 0);
    this.#used = max === 0 ? 0 : Number(/^used_memory:(\d+)/m.exec(info)?.[1] ?? 0) / max;
    this.#readAt = performance.now();
  }
}
