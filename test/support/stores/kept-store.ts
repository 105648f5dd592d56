import { copyFile, mkdtemp, rm, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OpenedRun } from '../../../shared/ports/runs.ts';
import { beginRun, reopenRun } from '../../../shared/stores/sqlite/local-runs.ts';
import type { OwnedLocalRun } from '../../../shared/stores/sqlite/owned-run.ts';
import { SqliteRuns } from '../../../shared/stores/sqlite/runs.ts';
import { SteadyClock } from '../../../shared/stores/sqlite/steady-clock.ts';
import { openLocalParts } from './local-parts.ts';
import { NumberedFrontier } from './numbered-frontier.ts';
import { SteppedClock } from './stepped-clock.ts';
import { counted, type OpenStore, type Store } from './stores.ts';

/** A store in a folder whose runs belong to this process as soon as they are created. */
export interface KeptStore extends Store {
  readonly folder: string;
  readonly owned: ReadonlyMap<string, OwnedLocalRun>;
}

interface Options {
  readonly policy?: Parameters<OpenStore>[0];
  readonly folder?: string;
  /** Runs of this folder to resume. */
  readonly resume?: readonly string[];
  readonly clock?: SteppedClock;
}

export async function openKeptStore(options: Options = {}): Promise<KeptStore> {
  const { clock: stepped = new SteppedClock(), folder = await newFolder() } = options;
  const path = join(folder, 'trawl.sqlite');
  const { store, database, frontier, gate, hosts, marks, biographer } = openLocalParts({
    clock: new SteadyClock(stepped),
    path,
    policy: options.policy,
  });
  const owned = new Map<string, OwnedLocalRun>();
  const parts = { store, folder, syncRecords: async () => {} };
  for (const run of options.resume ?? []) owned.set(run, await reopenRun(run, parts));
  class KeptRuns extends SqliteRuns {
    override async open(...opened: Parameters<SqliteRuns['open']>): Promise<OpenedRun> {
      const [run, runOptions] = opened;
      const begin = { run, options: runOptions, crawler: 'page', seeds: [], flags: {} };
      if (!owned.has(run)) owned.set(run, await beginRun(begin, parts));
      return await super.open(...opened);
    }
  }
  return {
    folder,
    owned,
    port: frontier,
    frontier: new NumberedFrontier(frontier),
    runs: new KeptRuns({ store, incarnations: counted() }),
    gate,
    hosts,
    marks,
    biographer,
    step: (ms) => stepped.step(ms),
    now: () => stepped.now(),
    close: async () => {
      for (const run of owned.values()) await run.close();
      database.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Copies a folder's database as a crash would leave it, with its log cut off after `bytes` if given. Returns the new folder. */
export async function crashedFolder(folder: string, bytes?: number): Promise<string> {
  const copy = await newFolder();
  for (const name of ['trawl.sqlite', 'trawl.sqlite-wal']) await copyFile(join(folder, name), join(copy, name));
  if (bytes !== undefined) await truncate(join(copy, 'trawl.sqlite-wal'), bytes);
  return copy;
}

export async function newFolder(): Promise<string> {
  return await mkdtemp(join(tmpdir(), 'trawl-kept-'));
}
