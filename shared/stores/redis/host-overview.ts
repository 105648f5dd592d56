import type { HostOverview, PausedHost } from '../../ports/host-overview.ts';
import { partsOf } from '../../task/parts.ts';
import { type RedisStoreOptions, Scripts } from './scripts.ts';

/** The hosts in Redis: `ready` of each run, and `paused`, a sorted set of hosts by the end of their pause. */
export class RedisHostOverview implements HostOverview {
  readonly #scripts: Scripts;

  constructor({ redis, prefix, clock }: RedisStoreOptions) {
    this.#scripts = new Scripts({ redis, prefix, clock });
  }

  async due(): Promise<number> {
    return (await this.#scripts.run('due')) as number;
  }

  async oldestDueMs(): Promise<number> {
    return Number(await this.#scripts.run('oldest_due'));
  }

  async paused(limit: number): Promise<readonly PausedHost[]> {
    const reply = (await this.#scripts.run('paused_hosts', limit)) as (string | number)[];
    return [...partsOf(reply, 5)].map(([host, ms, reason, byHand, isUnreachable]) => ({
      host: String(host),
      pausedMs: Number(ms),
      reason: String(reason),
      byHand: byHand === 1,
      isUnreachable: isUnreachable === 1,
    }));
  }
}
