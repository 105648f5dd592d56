import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { LocalLetters } from '../ports/local-letters.ts';
import type { Beginning, LocalRuns, OwnedRun } from '../ports/local-runs.ts';
import type { Transport } from '../ports/transport.ts';
import { systemClock } from '../runtime/clock.ts';
import { makeOutputFolder } from '../runtime/files/output-folder.ts';
import type { Settings } from '../settings/table.ts';
import type { LocalStore } from '../stores/sqlite/moves/local-store.ts';
import { QUEUE_TTL_MS } from '../transports/rabbitmq/topology.ts';
import { policyOf, type Stores } from './backends.ts';
import { openLocalCache } from './response-caches.ts';

const GIVE_UP_EMBEDDED_MS = 600_000;
/** Time for which calls are collected into one transaction, so that each call costs fewer writes of database pages. */
const GATHER_MS = 5;

/** How a crawl by one process is kept on disk: as a new run (`begin`), or by resuming the run with this id (`resume`). */
export type Kept = {
  /** Syncs the records to disk, so that a power cut can't lose one that the store counts. */
  readonly syncRecords: () => Promise<void>;
} & ({ readonly begin: Beginning } | { readonly resume: string });

/** All ports of one process. */
export type Embedded = Stores & {
  readonly transport: Transport;
  /** `undefined` if the run is kept only in memory. */
  readonly owned: OwnedRun | undefined;
};

/**
 * Opens the stores and the transport of one process that needs no services: in the database of its output folder, or in memory
 * without `kept`.
 */
export async function openEmbedded(settings: Settings, kept?: Kept): Promise<Embedded> {
  const [{ LocalTransport }, { SqliteDeadLetters }] = await Promise.all([
    import('../transports/local.ts'),
    import('../stores/sqlite/dead-letters.ts'),
  ]);
  const store = await openStore(kept === undefined ? undefined : settings);
  try {
    const owned = kept === undefined ? undefined : await take(store, settings, kept);
    const letters = kept === undefined ? undefined : new SqliteDeadLetters({ store });
    const transport = new LocalTransport({ clock: systemClock, ttlMs: QUEUE_TTL_MS, letters });
    return { ...(await portsOf(store, settings)), transport, owned };
  } catch (error: unknown) {
    store.database.close();
    throw error;
  }
}

/** Opens the runs in the output folder. */
export async function openLocalRuns(settings: Settings): Promise<LocalRuns & { close(): void }> {
  // Searching for runs must not create a database.
  if (!hasLocalRuns(settings)) return { unfinished: async () => [], view: async () => undefined, close: () => {} };
  const { isBeingCrawled, SqliteLocalRuns } = await import('../stores/sqlite/local-runs.ts');
  const store = await openStore(settings);
  const runs = new SqliteLocalRuns({ store });
  return {
    async unfinished() {
      const views = await runs.unfinished();
      // A run that a process is working on can't be resumed, although it was active last.
      const atWork = new Set(views.filter(({ beginning }) => isBeingCrawled(beginning.run, settings.outputDir)));
      return [...views.filter((view) => !atWork.has(view)), ...atWork];
    },
    view: (run) => runs.view(run),
    close: () => store.database.close(),
  };
}

/** Returns whether there have ever been local runs in the output folder. */
export function hasLocalRuns(settings: Settings): boolean {
  return statSync(databasePath(settings), { throwIfNoEntry: false }) !== undefined;
}

/** Opens the stores of the output folder to show and steer its runs, whichever process crawls them. */
export async function openLocalStores(settings: Settings): Promise<LocalStores> {
  const [{ finishCancelled, isBeingCrawled }, { SqliteDeadLetters }] = await Promise.all([
    import('../stores/sqlite/local-runs.ts'),
    import('../stores/sqlite/dead-letters.ts'),
  ]);
  const store = await openStore(settings);
  return {
    ...(await portsOf(store, settings)),
    letters: new SqliteDeadLetters({ store }),
    isBeingCrawled: (run) => isBeingCrawled(run, settings.outputDir),
    finishCancelled: (run) => finishCancelled(run, { store, folder: settings.outputDir }),
  };
}

export type LocalStores = Stores & {
  readonly letters: LocalLetters;
  /** Returns whether a process is working on the run right now. */
  isBeingCrawled(run: string): boolean;
  /** Drops a cancelled run's tasks in flight. If a process still crawls the run, that process does it instead. */
  finishCancelled(run: string): Promise<void>;
};

async function portsOf(store: LocalStore, settings: Settings): Promise<Stores> {
  const [
    { SqliteFrontier },
    { SqliteRuns },
    { SqliteHostOverview },
    { SqliteMarks },
    { SqliteBiographer },
    { SqliteHostGate },
    { SqliteRoster },
    { LocalRobotsStore },
    { isBeingCrawled },
  ] = await Promise.all([
    import('../stores/sqlite/frontier.ts'),
    import('../stores/sqlite/runs.ts'),
    import('../stores/sqlite/host-overview.ts'),
    import('../stores/sqlite/marks.ts'),
    import('../stores/sqlite/biographer.ts'),
    import('../stores/sqlite/host-gate.ts'),
    import('../stores/sqlite/roster.ts'),
    import('../stores/sqlite/robots-store.ts'),
    import('../stores/sqlite/local-runs.ts'),
  ]);
  return {
    frontier: new SqliteFrontier({ store, policy: policyOf(settings, GIVE_UP_EMBEDDED_MS), queuesAtOnce: true }),
    runs: new SqliteRuns({
      store,
      // Without a file, no other process can crawl the run.
      ...(store.owned === undefined ? {} : { isBeingCrawled: (run) => isBeingCrawled(run, settings.outputDir) }),
    }),
    gate: new SqliteHostGate({ store }),
    hosts: new SqliteHostOverview({ store }),
    marks: new SqliteMarks({ store }),
    biographer: new SqliteBiographer({ store }),
    roster: new SqliteRoster({ store }),
    cache: await openLocalCache(settings),
    robots: new LocalRobotsStore({ clock: systemClock }),
    close: () => store.database.close(),
  };
}

/** Opens the store in the output folder, or in memory if no settings are given. */
async function openStore(settings: Settings | undefined): Promise<LocalStore> {
  const [{ LocalDatabase }, { IN_MEMORY }, { LocalStore }, { SteadyClock, withoutStops }, { endTimesAhead }] =
    await Promise.all([
      import('../stores/sqlite/database/database.ts'),
      import('../stores/sqlite/database/sqlite-file.ts'),
      import('../stores/sqlite/moves/local-store.ts'),
      import('../stores/sqlite/steady-clock.ts'),
      import('../stores/sqlite/times-ahead.ts'),
    ]);
  if (settings !== undefined) makeOutputFolder(settings.outputDir);
  const database = new LocalDatabase(
    settings === undefined ? { path: IN_MEMORY } : { path: databasePath(settings), gatherMs: GATHER_MS },
  );
  const clock = new SteadyClock(withoutStops(systemClock));
  const store = new LocalStore({ database, clock });
  if (settings === undefined) return store;
  try {
    if (!clock.continueFrom(await store.lastTouchedAt())) await endTimesAhead(store);
    return store;
  } catch (error: unknown) {
    database.close();
    throw error;
  }
}

function databasePath({ outputDir }: Settings): string {
  return join(outputDir, 'trawl.sqlite');
}

async function take(store: LocalStore, { outputDir: folder }: Settings, kept: Kept): Promise<OwnedRun> {
  const { beginRun, reopenRun } = await import('../stores/sqlite/local-runs.ts');
  const options = { store, folder, syncRecords: kept.syncRecords };
  return 'begin' in kept ? await beginRun(kept.begin, options) : await reopenRun(kept.resume, options);
}
