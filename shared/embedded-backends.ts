import { MEGABYTE, noCache, policyOf, type Stores } from './backends.ts';
import { systemClock } from './clock.ts';
import type { Journal } from './frontiers/journal/journal.ts';
import type { PageFile } from './frontiers/journal/page-file.ts';
import type { MemoryStore } from './frontiers/memory/store.ts';
import type { Beginning, JournalFolder, RunJournal } from './journal.ts';
import type { ResponseCache } from './response-cache.ts';
import type { Settings } from './settings-table.ts';
import type { DeadLetters, Transport } from './transport.ts';
import { QUEUE_TTL_MS } from './transports/rabbitmq-topology.ts';

const GIVE_UP_EMBEDDED_MS = 600_000;

/** How a crawl of one process is kept on disk: from its beginning, or as the run of this id that was begun before. */
export type Journaled = {
  /** Brings the records to the disk: no journal may speak of a record that a power cut took. */
  readonly syncRecords: (() => Promise<void>) | undefined;
} & ({ readonly begin: Beginning } | { readonly resume: string });

/** What incremental crawls remember of pages, in the output folder for the next one. */
export interface RememberedPages {
  /** Brings the records to the disk: no page may be known whose record a power cut took. */
  readonly syncRecords: () => Promise<void>;
  /** Told once: pages can't be written. */
  readonly onFailure: (problem: string) => void;
}

/** Stores and transport of one process that needs no services, and its journal if it has one. */
export async function openEmbedded(
  settings: Settings,
  journaled?: Journaled,
  remembered?: RememberedPages,
): Promise<Embedded> {
  const [
    { JournaledFrontier },
    { JournaledRuns },
    { MemoryStore },
    { MemoryHosts },
    { MemoryHostOverview },
    { MemoryMarks },
    { MemoryBiographer },
    { MemoryHostGate },
    { MemoryRobotsStore },
    { MemoryRoster },
    { MemoryTransport },
  ] = await Promise.all([
    import('./frontiers/journal/frontier.ts'),
    import('./frontiers/journal/runs.ts'),
    import('./frontiers/memory/store.ts'),
    import('./frontiers/memory/hosts.ts'),
    import('./frontiers/memory/host-overview.ts'),
    import('./frontiers/memory/marks.ts'),
    import('./frontiers/memory/biographer.ts'),
    import('./host-gates/memory.ts'),
    import('./robots-stores/memory.ts'),
    import('./rosters/memory.ts'),
    import('./transports/memory.ts'),
  ]);
  const clock = systemClock;
  const hosts = new MemoryHosts();
  const store = new MemoryStore(hosts);
  const journals = new Map<string, Journal>();
  const journal = journaled === undefined ? undefined : await openJournal(settings, journaled, store);
  if (journal !== undefined) journals.set(journal.run, journal);
  const pages = remembered === undefined ? undefined : await openPages(settings, remembered, journal);
  if (pages !== undefined) store.recrawl.keepIn(pages);
  return {
    frontier: new JournaledFrontier({ store, policy: policyOf(settings, GIVE_UP_EMBEDDED_MS), clock, journals }),
    runs: new JournaledRuns({ store, clock, journals }),
    gate: new MemoryHostGate({ hosts, clock }),
    hosts: new MemoryHostOverview({ store, clock }),
    marks: new MemoryMarks({ store }),
    biographer: new MemoryBiographer({ store, clock }),
    cache: await openMemoryCache(settings),
    robots: new MemoryRobotsStore({ clock }),
    roster: new MemoryRoster({ clock }),
    transport: new MemoryTransport({ clock, ttlMs: QUEUE_TTL_MS }),
    journal,
    close: () => pages?.close(),
  };
}

/** All of one process. */
export type Embedded = Stores & {
  readonly transport: Transport & DeadLetters;
  readonly journal: RunJournal | undefined;
};

async function openJournal(
  { outputDir: folder }: Settings,
  journaled: Journaled,
  store: MemoryStore,
): Promise<Journal> {
  const { beginJournal, reopenJournal } = await import('./frontiers/journal/opening.ts');
  const options = { folder, syncFirst: journaled.syncRecords, now: systemClock.now() };
  return 'begin' in journaled
    ? await beginJournal(journaled.begin, options)
    : await reopenJournal(journaled.resume, store, options);
}

async function openPages(
  { outputDir: folder }: Settings,
  { syncRecords: syncFirst, onFailure }: RememberedPages,
  journal: RunJournal | undefined,
): Promise<PageFile> {
  const { PageFile } = await import('./frontiers/journal/page-file.ts');
  try {
    return new PageFile({ folder, syncFirst, onFailure, now: systemClock.now });
  } catch (error: unknown) {
    await journal?.close();
    throw error;
  }
}

/** The journals in the output folder, looked at without being opened. */
export async function openJournalFolder({ outputDir: folder }: Settings): Promise<JournalFolder> {
  const { unfinishedJournals, viewJournal } = await import('./frontiers/journal/folder.ts');
  return { unfinished: () => unfinishedJournals(folder), view: async (run) => viewJournal(folder, run) };
}

async function openMemoryCache({ cacheTtl, cacheMaxMb }: Settings): Promise<ResponseCache> {
  if (cacheTtl === 0) return noCache;
  const { MemoryResponseCache } = await import('./response-caches/memory.ts');
  return new MemoryResponseCache({ clock: systemClock, ttlMs: cacheTtl, maxBytes: cacheMaxMb * MEGABYTE });
}
