import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { Forgotten } from '../../ports/marks.ts';
import { UsageError } from '../../runtime/errors.ts';
import type { Scripts } from './scripts.ts';

/** Time for which a `forget` that died still blocks the next one. */
const LEASE_MS = 60_000;
const RENEW_EVERY_MS = 15_000;

/**
 * Records the marks of tasks that were added or put back since a `forget` began: searching a run takes many commands, and its tasks
 * move meanwhile.
 */
export class MoveLog {
  readonly #redis: Redis;
  readonly #key: string;
  readonly #scripts: Scripts;
  /** Its own entry in the set. It can't be a mark, since marks have no line breaks. */
  readonly #owner = `\n${randomUUID()}`;
  #timer: NodeJS.Timeout | undefined;

  private constructor(redis: Redis, prefix: string, scripts: Scripts) {
    this.#redis = redis;
    this.#key = `${prefix}forgetting`;
    this.#scripts = scripts;
  }

  /** @throws UsageError if another process is forgetting marks */
  static async begin(redis: Redis, prefix: string, scripts: Scripts): Promise<MoveLog> {
    const log = new MoveLog(redis, prefix, scripts);
    if (!(await log.#renew()))
      throw new UsageError('another `trawl forget` is under way, or was killed: try again in a minute');
    // If it can't be renewed it expires, and `unmark` reports that.
    log.#timer = setInterval(() => void log.#renew().catch(() => {}), RENEW_EVERY_MS).unref();
    return log;
  }

  /**
   * Drops those of these marks that are not in the log.
   *
   * @param set its key without the prefix, or `''` for the marks that runs share
   * @throws UsageError if the log expired meanwhile
   */
  async unmark(set: string, marks: readonly string[]): Promise<Forgotten> {
    const [forgotten, kept] = (await this.#scripts.run('unmark', this.#owner, set, ...marks)) as number[];
    if (forgotten === undefined || kept === undefined)
      throw new UsageError('Redis did not answer for a minute: some marks are forgotten; run it again for the rest');
    return { forgotten, kept };
  }

  async end(): Promise<void> {
    clearInterval(this.#timer);
    // If that fails, the log expires by itself.
    if ((await this.#redis.sismember(this.#key, this.#owner).catch(() => 0)) === 1)
      await this.#redis.unlink(this.#key).catch(() => {});
  }

  async #renew(): Promise<boolean> {
    return (await this.#scripts.run('forget', this.#owner, LEASE_MS)) === 1;
  }
}
