import type { HostOverview, PausedHost } from '../../ports/host-overview.ts';
import { MOST_RUNS_COUNTED, MOST_RUNS_LOOKED_AT } from '../policy.ts';
import type { LocalStore } from './moves/local-store.ts';
import { type HostRow, isUnreachable } from './moves/rows/host-rows.ts';

/** The hosts that may be asked now, of running runs. */
const DUE = `FROM runHosts WHERE readyAt <= ?1 AND run IN (
  SELECT n FROM runs WHERE opened IS NOT NULL AND state = 'running' AND lookAt <= ?1 LIMIT ?2)`;

/** The paused hosts. Without `> 0`, SQLite would not use their index. */
const PAUSED = `FROM hosts WHERE pausedUntil > 0 AND pausedUntil > ?`;

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
      const found = database.get<{ hosts: number }>(`SELECT count(*) AS hosts ${DUE}`, now, MOST_RUNS_COUNTED);
      return found?.hosts ?? 0;
    });
  }

  async oldestDueMs(): Promise<number> {
    return await this.#store.move((moves) => {
      moves.flush();
      const { database, now } = moves;
      const found = database.get<{ at: number | null }>(`SELECT min(readyAt) AS at ${DUE}`, now, MOST_RUNS_LOOKED_AT);
      return now - (found?.at ?? now);
    });
  }

  async pausedCount(): Promise<number> {
    return await this.#store.move((moves) => {
      moves.flush();
      const { database, now } = moves;
      const found = database.get<{ hosts: number }>(`SELECT count(*) AS hosts ${PAUSED}`, now);
      return found?.hosts ?? 0;
    });
  }

  async paused(limit: number): Promise<readonly PausedHost[]> {
    return await this.#store.move((moves) => {
      moves.flush();
      const { database, now } = moves;
      return database
        .all<HostRow>(`SELECT * ${PAUSED} ORDER BY pausedUntil DESC, host DESC LIMIT ?`, now, limit)
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
