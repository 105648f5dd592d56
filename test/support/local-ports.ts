import type { Clock } from '../../shared/runtime/clock.ts';
import type { FrontierPolicy } from '../../shared/stores/policy.ts';
import { SqliteBiographer } from '../../shared/stores/sqlite/biographer.ts';
import { IN_MEMORY, LocalDatabase } from '../../shared/stores/sqlite/database.ts';
import { SqliteFrontier } from '../../shared/stores/sqlite/frontier.ts';
import { SqliteHostGate } from '../../shared/stores/sqlite/host-gate.ts';
import { SqliteHostOverview } from '../../shared/stores/sqlite/host-overview.ts';
import { LocalStore } from '../../shared/stores/sqlite/local-store.ts';
import { SqliteMarks } from '../../shared/stores/sqlite/marks.ts';
import { SqliteRuns } from '../../shared/stores/sqlite/runs.ts';

interface LocalPortsOptions {
  readonly clock: Pick<Clock, 'now'>;
  readonly policy: FrontierPolicy;
  /** Left out: in memory. */
  readonly path?: string;
  readonly incarnations?: () => string;
  /** Left out: each call is made at once. */
  readonly gatherMs?: number;
}

/** The ports of the local store, on one database. */
export function openLocalPorts({ clock, policy, path = IN_MEMORY, incarnations, gatherMs }: LocalPortsOptions) {
  const database = new LocalDatabase({ path, ...(gatherMs === undefined ? {} : { gatherMs }) });
  const store = new LocalStore({ database, clock });
  return {
    store,
    database,
    frontier: new SqliteFrontier({ store, policy }),
    runs: new SqliteRuns({ store, ...(incarnations === undefined ? {} : { incarnations }) }),
    gate: new SqliteHostGate({ store }),
    hosts: new SqliteHostOverview({ store }),
    marks: new SqliteMarks({ store }),
    biographer: new SqliteBiographer({ store }),
  };
}
