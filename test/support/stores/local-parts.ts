import type { Clock } from '../../../shared/runtime/clock.ts';
import type { FrontierPolicy } from '../../../shared/stores/policy.ts';
import { SqliteBiographer } from '../../../shared/stores/sqlite/biographer.ts';
import { LocalDatabase } from '../../../shared/stores/sqlite/database/database.ts';
import { IN_MEMORY } from '../../../shared/stores/sqlite/database/sqlite-file.ts';
import { SqliteDeadLetters } from '../../../shared/stores/sqlite/dead-letters.ts';
import { SqliteFrontier } from '../../../shared/stores/sqlite/frontier.ts';
import { SqliteHostGate } from '../../../shared/stores/sqlite/host-gate.ts';
import { SqliteHostOverview } from '../../../shared/stores/sqlite/host-overview.ts';
import { SqliteMarks } from '../../../shared/stores/sqlite/marks.ts';
import { LocalStore } from '../../../shared/stores/sqlite/moves/local-store.ts';
import { LocalResponseCache } from '../../../shared/stores/sqlite/response-cache.ts';
import { LocalRobotsStore } from '../../../shared/stores/sqlite/robots-store.ts';
import { SqliteRoster } from '../../../shared/stores/sqlite/roster.ts';
import { SqliteRuns } from '../../../shared/stores/sqlite/runs.ts';
import { POLICY } from '../policy.ts';

interface LocalPartsOptions<C extends Clock> {
  readonly clock: C;
  readonly policy?: Partial<FrontierPolicy> | undefined;
  /** Defaults to a database in memory. */
  readonly path?: string;
  /** See {@link SqliteRuns}. */
  readonly incarnations?: () => string;
  /** See {@link SqliteRuns}. */
  readonly isBeingCrawled?: (run: string) => boolean;
  /** By default each call is made at once. */
  readonly gatherMs?: number;
  /** See {@link SqliteFrontier}. */
  readonly queuesAtOnce?: boolean;
}

/** Opens every store of one machine over one database and one clock. */
export function openLocalParts<C extends Clock>(options: LocalPartsOptions<C>) {
  const { clock, policy, path = IN_MEMORY, incarnations, isBeingCrawled, gatherMs, queuesAtOnce = false } = options;
  const database = new LocalDatabase({ path, ...(gatherMs === undefined ? {} : { gatherMs }) });
  const store = new LocalStore({ database, clock });
  return {
    clock,
    database,
    store,
    frontier: new SqliteFrontier({ store, policy: { ...POLICY, ...policy }, queuesAtOnce }),
    runs: new SqliteRuns({
      store,
      ...(incarnations === undefined ? {} : { incarnations }),
      ...(isBeingCrawled === undefined ? {} : { isBeingCrawled }),
    }),
    gate: new SqliteHostGate({ store }),
    hosts: new SqliteHostOverview({ store }),
    marks: new SqliteMarks({ store }),
    biographer: new SqliteBiographer({ store }),
    cache: new LocalResponseCache({ clock, ttlMs: 60_000, maxBytes: 1_000_000 }),
    robots: new LocalRobotsStore({ clock }),
    letters: new SqliteDeadLetters({ store }),
    roster: new SqliteRoster({ store }),
  };
}
