import type { HostOverview, PausedHost } from '../../ports/host-overview.ts';
import { partsOf } from '../../task/parts.ts';
import { MOST_RUNS_COUNTED } from '../policy.ts';
import { type RedisStoreOptions, Scripts } from './scripts.ts';

/** Hosts that one script call reads: half a millisecond. */
const HOSTS_AT_ONCE = 100;
/** Runs that one script call counts the due hosts of: a millisecond or two. */
const RUNS_AT_ONCE = 400;

/** The hosts in Redis: `ready` of each run, and `paused`, a sorted set of hosts by the end of their pause. */
export class RedisHostOverview implements HostOverview {
  readonly #scripts: Scripts;

  constructor({ redis, prefix, clock }: RedisStoreOptions) {
    this.#scripts = new Scripts({ redis, prefix, clock });
  }

  async due(): Promise<number> {
    let due = 0;
    for (let from = 0; from < MOST_RUNS_COUNTED; from += RUNS_AT_ONCE) {
      const [looked, hosts] = (await this.#scripts.run('due', from, RUNS_AT_ONCE)) as [number, number];
      due += hosts;
      if (looked < RUNS_AT_ONCE) break;
    }
    return due;
  }

  async oldestDueMs(): Promise<number> {
    return Number(await this.#scripts.run('oldest_due'));
  }

  async pausedCount(): Promise<number> {
    return (await this.#scripts.run('paused_count')) as number;
  }

  async paused(limit: number): Promise<readonly PausedHost[]> {
    // By name, since a host whose pause changes between two reads comes twice.
    const found = new Map<string, PausedHost>();
    for (let from = 0; from < limit; from += HOSTS_AT_ONCE) {
      const part = await this.#pausedFrom(from, Math.min(HOSTS_AT_ONCE, limit - from));
      for (const each of part) if (!found.has(each.host)) found.set(each.host, each);
      if (part.length < HOSTS_AT_ONCE) break;
    }
    return [...found.values()];
  }

  async #pausedFrom(from: number, most: number): Promise<PausedHost[]> {
    const reply = (await this.#scripts.run('paused_hosts', from, most)) as (string | number)[];
    return [...partsOf(reply, 5)].map(([host, ms, reason, byHand, isUnreachable]) => ({
      host: String(host),
      pausedMs: Number(ms),
      reason: String(reason),
      byHand: byHand === 1,
      isUnreachable: isUnreachable === 1,
    }));
  }
}
