import type { HostOverview, PausedHost } from '../../ports/host-overview.ts';
import { type HostRow, isUnreachable } from './moves/host-rows.ts';
import type { LocalStore } from './moves/local-store.ts';

const MOST_RUNS = 100;

/** The hosts of all local runs. */
export class SqliteHostOverview implements HostOverview {
  readonly #store: LocalStore;

  constructor({ store }: { readonly store: LocalStore }) {
    this.#store = store;
  }

  async due(): Promise<number> {
    return await this.#store.move((moves) => {
      moves.flush();
      const { database, now } = moves;
      const found = database.get<{ hosts: number }>(
        `SELECT count(*) AS hosts FROM runHosts WHERE readyAt <= ?1 AND run IN (
           SELECT n FROM runs WHERE opened IS NOT NULL AND state = 'running' AND lookAt <= ?1 LIMIT ?2)`,
        now,
        MOST_RUNS,
      );
      return found?.hosts ?? 0;
    });
  }

  async oldestDueMs(): Promise<number> {
    return await this.#store.move((moves) => {
      moves.flush();
      const { database, now } = moves;
      const found = database.get<{ oldest: number | null }>(
        `SELECT min(readyAt) AS oldest FROM runHosts WHERE readyAt <= ?1 AND run IN (
           SELECT n FROM runs WHERE opened IS NOT NULL AND state = 'running' AND lookAt <= ?1 LIMIT ?2)`,
        now,
        MOST_RUNS,
      );
      return now - (found?.oldest ?? now);
    });
  }

  async paused(limit: number): Promise<readonly PausedHost[]> {
    return await this.#store.move((moves) => {
      moves.flush();
      const { database, now } = moves;
      return database
        .all<HostRow>(
          'SELECT * FROM hosts WHERE pausedUntil > ? ORDER BY pausedUntil DESC, host DESC LIMIT ?',
          now,
          limit,
        )
        .map((row) => ({
          host: row.host,
          pausedMs: row.pausedUntil - now,
          reason: row.reason,
          byHand: row.byHand === 1,
          isUnreachable: isUnreachable(row),
        }));
    });
  }
}
