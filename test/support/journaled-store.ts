import { copyFile, mkdir, mkdtemp, rm, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { OpenedRun } from '../../shared/ports/runs.ts';
import { journalPath } from '../../shared/stores/journal/folder.ts';
import { JournaledFrontier } from '../../shared/stores/journal/frontier.ts';
import type { Journal } from '../../shared/stores/journal/journal.ts';
import { beginJournal, reopenJournal } from '../../shared/stores/journal/opening.ts';
import { PageFile } from '../../shared/stores/journal/page-file.ts';
import { JournaledRuns } from '../../shared/stores/journal/runs.ts';
import { SteadyClock } from '../../shared/stores/memory/steady-clock.ts';
import { openMemoryParts } from './memory-parts.ts';
import { NumberedFrontier } from './numbered-frontier.ts';
import { POLICY } from './policy.ts';
import { SteppedClock } from './stepped-clock.ts';
import { counted, type OpenStore, type Store } from './stores.ts';

/** A store whose runs are written down, each from the moment that it is created. */
export interface JournaledStore extends Store {
  readonly folder: string;
  readonly runs: JournaledRuns;
  readonly journals: ReadonlyMap<string, Journal>;
}

interface Options {
  readonly policy?: Parameters<OpenStore>[0];
  /** Runs of this folder are read back. */
  readonly folder?: string;
  readonly resume?: readonly string[];
  readonly clock?: SteppedClock;
  /** What incremental runs remember is kept in the folder. */
  readonly hasPageFile?: boolean;
}

export async function openJournaledStore(options: Options = {}): Promise<JournaledStore> {
  const { clock: stepped = new SteppedClock(), folder = await newFolder() } = options;
  const clock = new SteadyClock(stepped);
  const { store, ...memory } = openMemoryParts({ clock });
  const journals = new Map<string, Journal>();
  const parts = { store, clock, journals, incarnations: counted() };
  const failed = (problem: string): void => {
    throw new Error(problem);
  };
  const pageFile = { folder, syncFirst: async () => {}, now: () => clock.now(), onFailure: failed };
  const pages = options.hasPageFile === true ? new PageFile(pageFile) : undefined;
  if (pages !== undefined) store.recrawl.keepIn(pages);
  for (const run of options.resume ?? [])
    journals.set(run, await reopenJournal(run, store, { folder, now: clock.now() }));
  class BeginningRuns extends JournaledRuns {
    override async open(...opened: Parameters<JournaledRuns['open']>): Promise<OpenedRun> {
      const [run, runOptions] = opened;
      const begin = { run, options: runOptions, seeds: [], flags: {} };
      if (!journals.has(run)) journals.set(run, await beginJournal(begin, { folder, now: clock.now() }));
      return await super.open(...opened);
    }
  }
  const port = new JournaledFrontier({ ...parts, policy: { ...POLICY, ...options.policy } });
  return {
    ...memory,
    folder,
    port,
    frontier: new NumberedFrontier(port),
    runs: new BeginningRuns(parts),
    journals,
    step: (ms) => stepped.step(ms),
    now: () => stepped.now(),
    close: async () => {
      for (const journal of journals.values()) await journal.close();
      pages?.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A folder with a copy of a run's journal, cut off after so many bytes: what a crash at that moment leaves. */
export async function crashedFolder(folder: string, run: string, bytes: number): Promise<string> {
  const copy = await newFolder();
  const path = journalPath(copy, run);
  await mkdir(dirname(path));
  await copyFile(journalPath(folder, run), path);
  await truncate(path, bytes);
  return copy;
}

export async function newFolder(): Promise<string> {
  return await mkdtemp(join(tmpdir(), 'trawl-journal-'));
}
