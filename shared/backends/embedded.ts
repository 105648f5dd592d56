import type { Beginning, JournalFolder, RunJournal } from '../ports/journal.ts';
import type { ResponseCache } from '../ports/response-cache.ts';
import type { Transport } from '../ports/transport.ts';
import { systemClock } from '../runtime/clock.ts';
import type { Settings } from '../settings/table.ts';
import type { Journal } from '../stores/journal/journal.ts';
import type { PageFile } from '../stores/journal/page-file.ts';
import type { MemoryStore } from '../stores/memory/store.ts';
import { QUEUE_TTL_MS } from '../transports/rabbitmq/topology.ts';
import { MEGABYTE, noCache, policyOf, type Stores } from './backends.ts';

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
    { SteadyClock },
    { MemoryHostOverview },
    { MemoryMarks },
    { MemoryBiographer },
    { MemoryHostGate },
    { MemoryRobotsStore },
    { MemoryRoster },
    { MemoryTransport },
  ] = await Promise.all([
    import('../stores/journal/frontier.ts'),
    import('../stores/journal/runs.ts'),
    import('../stores/memory/store.ts'),
    import('../stores/memory/hosts.ts'),
    import('../stores/memory/steady-clock.ts'),
    import('../stores/memory/host-overview.ts'),
    import('../stores/memory/marks.ts'),
    import('../stores/memory/biographer.ts'),
    import('../stores/memory/host-gate.ts'),
    import('../stores/memory/robots-store.ts'),
    import('../stores/memory/roster.ts'),
    import('../transports/local.ts'),
  ]);
  const clock = new SteadyClock(systemClock);
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
  readonly transport: Transport;
  readonly journal: RunJournal | undefined;
};

async function openJournal(
  { outputDir: folder }: Settings,
  journaled: Journaled,
  store: MemoryStore,
): Promise<Journal> {
  const { beginJournal, reopenJournal } = await import('../stores/journal/opening.ts');
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
  const { PageFile } = await import('../stores/journal/page-file.ts');
  try {
    return new PageFile({ folder, syncFirst, onFailure, now: systemClock.now });
  } catch (error: unknown) {
    await journal?.close();
    throw error;
  }
}

/** The journals in the output folder, looked at without being opened. */
export async function openJournalFolder({ outputDir: folder }: Settings): Promise<JournalFolder> {
  const { unfinishedJournals, viewJournal } = await import('../stores/journal/folder.ts');
  return { unfinished: () => unfinishedJournals(folder), view: async (run) => viewJournal(folder, run) };
}

async function openMemoryCache({ cacheTtl, cacheMaxMb }: Settings): Promise<ResponseCache> {
  if (cacheTtl === 0) return noCache;
  const { MemoryResponseCache } = await import('../stores/memory/response-cache.ts');
  return new MemoryResponseCache({ clock: systemClock, ttlMs: cacheTtl, maxBytes: cacheMaxMb * MEGABYTE });
}
