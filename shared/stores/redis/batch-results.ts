import type { Redis } from 'ioredis';
import { type BatchResults, type KeptBatch, MOST_RESULTS_LENGTH } from '../../ports/batch-results.ts';
import { type RedisStoreOptions, Scripts } from './scripts.ts';

/** Fields of the hash that belong to no task. */
const [REQUEST, SIZE] = ['request', 'size'];

/** The results of batches in Redis: `run:{id}:results`, a hash of task → `<release>|<record>`. */
export class RedisBatchResults implements BatchResults {
  readonly #redis: Redis;
  readonly #prefix: string;
  readonly #scripts: Scripts;

  constructor({ redis, prefix, clock }: RedisStoreOptions) {
    this.#redis = redis;
    this.#prefix = prefix;
    this.#scripts = new Scripts({ redis, prefix, clock });
  }

  async open(run: string, request: string, keepMs: number): Promise<boolean> {
    const key = this.#key(run);
    const [set] =
      (await this.#redis.multi().hsetnx(key, REQUEST, request).hsetnx(key, SIZE, 0).pexpire(key, keepMs).exec()) ?? [];
    return set?.[1] === 1;
  }

  async keep(run: string, task: string, release: number, record: string): Promise<void> {
    await this.#scripts.run('keep_result', run, task, release, record, MOST_RESULTS_LENGTH);
  }

  async read(run: string): Promise<KeptBatch | undefined> {
    const { [REQUEST]: request, [SIZE]: _, ...kept } = await this.#redis.hgetall(this.#key(run));
    if (request === undefined) return undefined;
    const records = Object.entries(kept).map(([task, text]) => [task, text.slice(text.indexOf('|') + 1)] as const);
    return { request, records: new Map(records) };
  }

  #key(run: string): string {
    return `${this.#prefix}run:${run}:results`;
  }
}
