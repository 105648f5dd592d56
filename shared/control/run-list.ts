import type { MemoryUse, StoreMemory } from '../ports/frontier/store-memory.ts';
import type { HostOverview } from '../ports/host-overview.ts';
import type { LiveWorker, Roster } from '../ports/roster.ts';
import type { RunCounts, RunOverview } from '../ports/run-overview.ts';
import type { Runs } from '../ports/runs.ts';
import type { Clock } from '../runtime/clock.ts';
import { DamagedRunError } from '../runtime/errors.ts';
import { partsOf } from '../task/parts.ts';
import { type RunView, RunWatcher } from './run-watcher.ts';

/** The runs at one moment. */
export interface RunList {
  /** Open runs and the newest of the others, newest first; see {@link MOST_OPEN} and {@link NEWEST}. */
  readonly views: readonly RunView[];
  /** Counts of all runs, listed or not. */
  readonly counts: RunCounts;
  readonly workers: readonly LiveWorker[];
  /** A sentence for each damaged run, which can't be read and is not listed. */
  readonly damaged: readonly string[];
}

interface RunListerOptions {
  readonly runs: Runs & RunOverview;
  readonly roster: Pick<Roster, 'workers'>;
  readonly hosts: Pick<HostOverview, 'oldestDueMs'>;
  /** Memory of the store, if it has a limit. */
  readonly memory?: StoreMemory;
  readonly clock: Clock;
  /** Returns the command that resumes a crawl of one process; absent for a fleet's runs. */
  readonly resumeCommand?: ((run: string) => string) | undefined;
}

/** Maximum number of open runs listed. */
export const MOST_OPEN = 200;
/** Number of newest runs listed, whether open or not. */
export const NEWEST = 20;
/** Number of hosts read per run to find the slowest. */
const HOSTS_OF_EACH = 20;
/** Runs read at once, so that the store is not kept busy for long. */
const AT_ONCE = 10;

/** Reads the open and the newest runs, repeatedly. */
export class RunLister {
  readonly #options: RunListerOptions;
  #watchers = new Map<string, RunWatcher>();
  // Read once per look, for all runs.
  #workers: Promise<readonly LiveWorker[]> = Promise.resolve([]);
  #oldestDueMs: Promise<number> = Promise.resolve(0);
  #memory: Promise<MemoryUse> | undefined;

  constructor(options: RunListerOptions) {
    this.#options = options;
  }

  async look(): Promise<RunList> {
    const { runs, roster, hosts } = this.#options;
    this.#workers = roster.workers();
    this.#oldestDueMs = hosts.oldestDueMs();
    this.#memory = undefined;
    const [workers, , counts, open, newest] = await Promise.all([
      this.#workers,
      this.#oldestDueMs,
      runs.counts(),
      runs.listOpen(MOST_OPEN),
      runs.list(NEWEST),
    ]);
    const watchers = [...new Set([...open, ...newest])].map((run) => [run, this.#watcherOf(run)] as const);
    // Watchers of runs that are no longer listed are dropped.
    this.#watchers = new Map(watchers);
    const [views, damaged]: [RunView[], string[]] = [[], []];
    for (const some of partsOf(watchers, AT_ONCE)) {
      const seen = await Promise.all(some.map(([, watcher]) => lookUnlessDamaged(watcher)));
      for (const found of seen) {
        if (typeof found === 'string') damaged.push(found);
        else if (found !== undefined) views.push(found);
      }
    }
    views.sort((a, b) => b.progress.startedAt - a.progress.startedAt || (a.progress.run < b.progress.run ? 1 : -1));
    return { views, counts, workers, damaged };
  }

  #watcherOf(run: string): RunWatcher {
    const { runs, clock, resumeCommand, memory: store } = this.#options;
    const roster = { workers: () => this.#workers };
    const oldestDueMs = (): Promise<number> => this.#oldestDueMs;
    const memory = store && { memory: () => (this.#memory ??= store.memory()) };
    const looking = { runs, roster, oldestDueMs, memory, clock, resumeCommand, mostHosts: HOSTS_OF_EACH };
    return this.#watchers.get(run) ?? new RunWatcher({ run, ...looking });
  }
}

/** Looks at a run. If it is damaged, returns the error message instead, so that the other runs are still listed. */
async function lookUnlessDamaged(watcher: RunWatcher): Promise<RunView | string | undefined> {
  try {
    return await watcher.look();
  } catch (error: unknown) {
    if (!(error instanceof DamagedRunError)) throw error;
    return error.message;
  }
}
