import type { HostOverview, PausedHost } from '../../ports/host-overview.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { MemoryStore } from './store.ts';

const MOST_RUNS = 100;

/** The hosts of one process. */
export class MemoryHostOverview implements HostOverview {
  readonly #store: MemoryStore;
  readonly #clock: Clock;

  constructor({ store, clock }: { readonly store: MemoryStore; readonly clock: Clock }) {
    this.#store = store;
    this.#clock = clock;
  }

  async due(): Promise<number> {
    const now = this.#clock.now();
    return this.#store.ready
      .due(now, MOST_RUNS)
      .map((id) => this.#store.runs.get(id))
      .filter((run) => run?.state === 'running')
      .reduce((sum, run) => sum + (run?.ready.due(now, Number.POSITIVE_INFINITY).length ?? 0), 0);
  }

  async paused(limit: number): Promise<readonly PausedHost[]> {
    const now = this.#clock.now();
    return [...this.#store.hosts.entries()]
      .map(([host, { pausedUntil, reason, byHand, opened, openUntil }]) => {
        const isUnreachable = opened > 0 && pausedUntil === openUntil;
        return { host, pausedMs: pausedUntil - now, reason, byHand, isUnreachable };
      })
      .filter(({ pausedMs }) => pausedMs > 0)
      .sort((a, b) => b.pausedMs - a.pausedMs || (a.host < b.host ? 1 : -1))
      .slice(0, limit);
  }
}
