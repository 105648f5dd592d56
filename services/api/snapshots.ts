import { LRUCache } from 'lru-cache';
import { type HostsOfFleet, lookAtHosts } from '../../shared/control/hosts/fleet-hosts.ts';
import { type RunList, RunLister } from '../../shared/control/run-list.ts';
import { type RunView, RunWatcher } from '../../shared/control/run-watcher.ts';
import type { HostOverview } from '../../shared/ports/host-overview.ts';
import type { LiveWorker, Roster } from '../../shared/ports/roster.ts';
import type { RunTally } from '../../shared/ports/run-overview.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { SECOND_MS } from '../../shared/task/durations.ts';
import type { Link, LinkedStores } from './link.ts';
import { SharedRead } from './shared-read.ts';

/** Maximum age of an answer. */
const FRESH_MS = SECOND_MS;
/** Runs remembered, each with the pages per second measured between its reads. */
const MOST_WATCHED = 200;
/** Hosts of a run that are read to find the slowest. */
const MOST_HOSTS = 1_000;

/** Open runs whose counters are summed. */
const MOST_TALLIED = 10_000;
/** Those counters are kept nine times as long as reading them took: that takes at most a tenth of the store's time. */
const TALLIES_KEPT_FOR_EACH_MS = 9;

/** The fleet at one moment. */
export interface FleetSnapshot {
  readonly list: RunList;
  readonly hosts: HostsOfFleet;
  /** The counters of all open runs, listed or not, at most {@link MOST_TALLIED}. */
  readonly tallies: readonly RunTally[];
}

/** A run at one moment, with the fleet's workers and hosts. */
export interface RunSnapshot {
  readonly view: RunView;
  readonly workers: readonly LiveWorker[];
  readonly hosts: HostsOfFleet;
}

interface ReadsOfFleet {
  readonly roster: Pick<Roster, 'workers'>;
  readonly hosts: Pick<HostOverview, 'oldestDueMs'>;
}

/** A run that was asked for. */
interface Watched {
  readonly read: SharedRead<RunSnapshot | undefined>;
  watcher?: RunWatcher;
}

/** Reads the fleet and its runs, each at most once a second and never twice at once, however many callers ask. */
export class Snapshots {
  readonly #link: Link;
  readonly #clock: Clock;
  /** Returns the command that resumes a local crawl. Left out for a fleet. */
  readonly #resumeCommand: ((run: string) => string) | undefined;
  readonly #fleet: SharedRead<FleetSnapshot>;
  readonly #hosts: SharedRead<HostsOfFleet>;
  /** Read once for all runs: the entries of hundreds of workers take megabytes. */
  readonly #workers: SharedRead<readonly LiveWorker[]>;
  readonly #oldestDueMs: SharedRead<number>;
  readonly #tallies: SharedRead<readonly RunTally[]>;
  #lister: RunLister | undefined;
  readonly #watched = new LRUCache<string, Watched>({ max: MOST_WATCHED });

  constructor(link: Link, clock: Clock, resumeCommand: ((run: string) => string) | undefined) {
    this.#link = link;
    this.#clock = clock;
    this.#resumeCommand = resumeCommand;
    this.#fleet = new SharedRead(clock, freshMs);
    this.#hosts = new SharedRead(clock, freshMs);
    this.#workers = new SharedRead(clock, freshMs);
    this.#oldestDueMs = new SharedRead(clock, freshMs);
    this.#tallies = new SharedRead(clock, (tookMs) => Math.max(freshMs(tookMs), tookMs * TALLIES_KEPT_FOR_EACH_MS));
    // While the store is away, an answer read before must not pass for its answer.
    link.watchStore({ lost: () => this.forget() });
  }

  async fleet(): Promise<FleetSnapshot> {
    return await this.#fleet.get(() =>
      this.#link.withStores(async (stores) => {
        this.#lister ??= new RunLister({
          ...stores,
          ...this.#sharedOf(stores),
          clock: this.#clock,
          resumeCommand: this.#resumeCommand,
        });
        const tallies = this.#tallies.get(() => stores.runs.tallies(MOST_TALLIED));
        const [list, hosts, all] = await Promise.all([this.#lister.look(), this.#hostsOf(stores), tallies]);
        return { list, hosts, tallies: all };
      }),
    );
  }

  /** Returns a run, or nothing if the store doesn't know it. */
  async run(run: string): Promise<RunSnapshot | undefined> {
    const watched = this.#watched.get(run) ?? { read: new SharedRead(this.#clock, freshMs) };
    this.#watched.set(run, watched);
    return await watched.read.get(() =>
      this.#link.withStores(async (stores) => {
        watched.watcher ??= this.#watcherOf(run, stores);
        const [view, workers, hosts] = await Promise.all([
          watched.watcher.look(),
          this.#workersOf(stores),
          this.#hostsOf(stores),
        ]);
        return view === undefined ? undefined : { view, workers, hosts };
      }),
    );
  }

  /** Drops the answers after a change: the next ones are read again. */
  forget(): void {
    this.#fleet.forget();
    this.#hosts.forget();
    this.#workers.forget();
    this.#oldestDueMs.forget();
    this.#tallies.forget();
    for (const { read } of this.#watched.values()) read.forget();
  }

  #hostsOf(stores: LinkedStores): Promise<HostsOfFleet> {
    return this.#hosts.get(() => lookAtHosts(stores));
  }

  #workersOf({ roster }: LinkedStores): Promise<readonly LiveWorker[]> {
    return this.#workers.get(() => roster.workers());
  }

  #watcherOf(run: string, stores: LinkedStores): RunWatcher {
    const { runs, memory } = stores;
    const { roster, hosts } = this.#sharedOf(stores);
    return new RunWatcher({
      ...{ run, runs, roster, memory, clock: this.#clock, resumeCommand: this.#resumeCommand },
      oldestDueMs: () => hosts.oldestDueMs(),
      mostHosts: MOST_HOSTS,
    });
  }

  /** The parts of the stores whose answers all runs share. */
  #sharedOf(stores: LinkedStores): ReadsOfFleet {
    return {
      roster: { workers: () => this.#workersOf(stores) },
      hosts: { oldestDueMs: () => this.#oldestDueMs.get(() => stores.hosts.oldestDueMs()) },
    };
  }
}

/** Returns how long an answer is kept: a little under a second, so that a tick of one second never gets the answer of the tick before. */
function freshMs(tookMs: number): number {
  return Math.max(0, FRESH_MS - 50 - tookMs);
}
