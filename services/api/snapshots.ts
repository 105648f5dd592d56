import { LRUCache } from 'lru-cache';
import { type HostsOfFleet, lookAtHosts } from '../../shared/control/fleet-hosts.ts';
import { type RunList, RunLister } from '../../shared/control/run-list.ts';
import { type RunView, RunWatcher } from '../../shared/control/run-watcher.ts';
import type { LiveWorker } from '../../shared/ports/roster.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { SECOND_MS } from '../../shared/task/durations.ts';
import type { Link, LinkedStores } from './link.ts';

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

interface Kept<T> {
  readonly at: number;
  readonly answer: Promise<T>;
}

/** Reads of the fleet and its runs, at most one a second of each, whoever asks. */
export class Snapshots {
  readonly #link: Link;
  readonly #clock: Clock;
  /** What resumes a crawl of this machine; left out for a fleet's runs. */
  readonly #resumeCommand: ((run: string) => string) | undefined;
  #lister: { readonly stores: LinkedStores; readonly lister: RunLister } | undefined;
  #fleet: Kept<FleetSnapshot> | undefined;
  #hosts: Kept<HostsOfFleet> | undefined;
  readonly #watchers = new LRUCache<string, RunWatcher>({ max: MOST_WATCHED });
  #runs = new Map<string, Kept<RunSnapshot | undefined>>();

  constructor(link: Link, clock: Clock, resumeCommand: ((run: string) => string) | undefined) {
    this.#link = link;
    this.#clock = clock;
    this.#resumeCommand = resumeCommand;
    // What was read before is no answer of a store that is away.
    link.watchStore({ lost: () => this.forget() });
  }

  async fleet(): Promise<FleetSnapshot> {
    this.#fleet = this.#kept(this.#fleet, () =>
      this.#link.withStores(async (stores) => {
        const [list, hosts] = await Promise.all([this.#listerOf(stores).look(), this.#hostsOf(stores)]);
        return { list, hosts };
      }),
    );
    return await this.#fleet.answer;
  }

  /** Nothing if the store doesn't know the run. */
  async run(run: string): Promise<RunSnapshot | undefined> {
    const kept = this.#kept(this.#runs.get(run), () =>
      this.#link.withStores(async (stores) => {
        const [view, workers, hosts] = await Promise.all([
          this.#watcherOf(run, stores).look(),
          stores.roster.workers(),
          this.#hostsOf(stores),
        ]);
        return view === undefined ? undefined : { view, workers, hosts };
      }),
    );
    // Those looked at longest ago are forgotten.
    this.#runs.delete(run);
    this.#runs.set(run, kept);
    for (const [oldest] of this.#runs) {
      if (this.#runs.size <= MOST_WATCHED) break;
      this.#runs.delete(oldest);
    }
    return await kept.answer;
  }

  /** Something was changed: the next answers are read anew. */
  forget(): void {
    this.#fleet = undefined;
    this.#hosts = undefined;
    this.#runs.clear();
  }

  async #hostsOf(stores: LinkedStores): Promise<HostsOfFleet> {
    this.#hosts = this.#kept(this.#hosts, () => lookAtHosts(stores));
    return await this.#hosts.answer;
  }

  #listerOf(stores: LinkedStores): RunLister {
    if (this.#lister?.stores !== stores) {
      const lister = new RunLister({ ...stores, clock: this.#clock, resumeCommand: this.#resumeCommand });
      this.#lister = { stores, lister };
    }
    return this.#lister.lister;
  }

  #watcherOf(run: string, { runs, roster, hosts }: LinkedStores): RunWatcher {
    const watcher =
      this.#watchers.get(run) ??
      new RunWatcher({
        run,
        runs,
        roster,
        oldestDueMs: () => hosts.oldestDueMs(),
        clock: this.#clock,
        resumeCommand: this.#resumeCommand,
        mostHosts: MOST_HOSTS,
      });
    this.#watchers.set(run, watcher);
    return watcher;
  }

  /** An answer that is fresh, or is still being waited for; one that failed isn't kept. */
  #kept<T>(kept: Kept<T> | undefined, read: () => Promise<T>): Kept<T> {
    const now = this.#clock.monotonic();
    // A tick of a second must not find the answer of the tick before.
    if (kept !== undefined && now - kept.at < FRESH_MS - 50) return kept;
    const answer = read();
    const fresh = { at: now, answer };
    answer.catch(() => {
      if (this.#fleet?.answer === (answer as Promise<unknown>)) this.#fleet = undefined;
      if (this.#hosts?.answer === (answer as Promise<unknown>)) this.#hosts = undefined;
      for (const [run, { answer: other }] of this.#runs)
        if (other === (answer as Promise<unknown>)) this.#runs.delete(run);
    });
    return fresh;
  }
}
