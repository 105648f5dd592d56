import { LRUCache } from 'lru-cache';
import { type HostsOfFleet, lookAtHosts } from '../../shared/control/hosts/fleet-hosts.ts';
import { type RunList, RunLister } from '../../shared/control/run-list.ts';
import { type RunView, RunWatcher } from '../../shared/control/run-watcher.ts';
import type { LiveWorker } from '../../shared/ports/roster.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { SECOND_MS } from '../../shared/task/durations.ts';
import type { Link, LinkedStores } from './link.ts';
import { SharedRead } from './shared-read.ts';

/** What an answer may be old. */
const FRESH_MS = SECOND_MS;
/** Runs that somebody looks at, each with a rate of its own. */
const MOST_WATCHED = 200;
/** How many of a run's hosts are read to find the slowest. */
const MOST_HOSTS = 1_000;

/** The fleet at one moment. */
export interface FleetSnapshot {
  readonly list: RunList;
  readonly hosts: HostsOfFleet;
}

/** A run at one moment, with what surrounds it. */
export interface RunSnapshot {
  readonly view: RunView;
  readonly workers: readonly LiveWorker[];
  readonly hosts: HostsOfFleet;
}

/** A run that somebody looks at. */
interface Watched {
  readonly read: SharedRead<RunSnapshot | undefined>;
  watcher?: RunWatcher;
}

/** Reads of the fleet and its runs: one at a time of each, and at most one a second, whoever asks. */
export class Snapshots {
  readonly #link: Link;
  readonly #clock: Clock;
  /** What resumes a crawl of this machine; left out for a fleet's runs. */
  readonly #resumeCommand: ((run: string) => string) | undefined;
  readonly #fleet: SharedRead<FleetSnapshot>;
  readonly #hosts: SharedRead<HostsOfFleet>;
  #lister: RunLister | undefined;
  readonly #watched = new LRUCache<string, Watched>({ max: MOST_WATCHED });

  constructor(link: Link, clock: Clock, resumeCommand: ((run: string) => string) | undefined) {
    this.#link = link;
    this.#clock = clock;
    this.#resumeCommand = resumeCommand;
    this.#fleet = new SharedRead(clock, freshMs);
    this.#hosts = new SharedRead(clock, freshMs);
    // What was read before is no answer of a store that is away.
    link.watchStore({ lost: () => this.forget() });
  }

  async fleet(): Promise<FleetSnapshot> {
    return await this.#fleet.get(() =>
      this.#link.withStores(async (stores) => {
        this.#lister ??= new RunLister({ ...stores, clock: this.#clock, resumeCommand: this.#resumeCommand });
        const [list, hosts] = await Promise.all([this.#lister.look(), this.#hostsOf(stores)]);
        return { list, hosts };
      }),
    );
  }

  /** Nothing if the store doesn't know the run. */
  async run(run: string): Promise<RunSnapshot | undefined> {
    const watched = this.#watched.get(run) ?? { read: new SharedRead(this.#clock, freshMs) };
    this.#watched.set(run, watched);
    return await watched.read.get(() =>
      this.#link.withStores(async (stores) => {
        watched.watcher ??= this.#watcherOf(run, stores);
        const [view, workers, hosts] = await Promise.all([
          watched.watcher.look(),
          stores.roster.workers(),
          this.#hostsOf(stores),
        ]);
        return view === undefined ? undefined : { view, workers, hosts };
      }),
    );
  }

  /** Something was changed: the next answers are read anew. */
  forget(): void {
    this.#fleet.forget();
    this.#hosts.forget();
    for (const { read } of this.#watched.values()) read.forget();
  }

  #hostsOf(stores: LinkedStores): Promise<HostsOfFleet> {
    return this.#hosts.get(() => lookAtHosts(stores));
  }

  #watcherOf(run: string, { runs, roster, hosts, memory }: LinkedStores): RunWatcher {
    return new RunWatcher({
      ...{ run, runs, roster, memory, clock: this.#clock, resumeCommand: this.#resumeCommand },
      oldestDueMs: () => hosts.oldestDueMs(),
      mostHosts: MOST_HOSTS,
    });
  }
}

/** A tick of a second must not find the answer of the tick before. */
function freshMs(tookMs: number): number {
  return Math.max(0, FRESH_MS - 50 - tookMs);
}
