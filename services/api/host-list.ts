import { hostsOfRuns } from '../../shared/control/hosts/hosts-of-runs.ts';
import type { HostCircumstances } from '../../shared/ports/host-overview.ts';
import type { HostLine } from '../../shared/ports/run-overview.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { SECOND_MS } from '../../shared/task/durations.ts';
import type { Link, LinkedStores } from './link.ts';
import { SharedRead } from './shared-read.ts';

/** Maximum number of paused hosts read. */
const MOST_PAUSED = 5_000;
/** Maximum number of open runs looked at. */
const MOST_RUNS = 10_000;
/** Maximum number of hosts read for all runs, about half a second of the store's time. */
const MOST_READ = 10_000;
/** A list is kept this long, or nine times as long as the read took if that is longer: reading takes at most a tenth of the store's time. */
const KEPT_MS = 2 * SECOND_MS;
const KEPT_FOR_EACH_MS = 9;

/** A host over all runs. */
export interface ListedHost {
  readonly host: string;
  waiting: number;
  readonly runs: string[];
  readonly circumstances: Pick<HostCircumstances, 'pausedMs' | 'reason' | 'byHand' | 'isUnreachable'> &
    Partial<HostCircumstances>;
}

/** The fields that hosts are ordered by. */
type HostKey = Pick<ListedHost, 'host' | 'waiting'>;

interface FoundHosts {
  /** Hosts with the most waiting tasks first. */
  readonly hosts: readonly ListedHost[];
  readonly isAll: boolean;
}

/** The hosts of all open runs, and all paused hosts. */
export class HostList {
  readonly #link: Link;
  readonly #list: SharedRead<FoundHosts>;

  constructor(link: Link, clock: Pick<Clock, 'monotonic'>) {
    this.#link = link;
    this.#list = new SharedRead(clock, (tookMs) => Math.max(KEPT_MS, tookMs * KEPT_FOR_EACH_MS));
  }

  read(): Promise<FoundHosts> {
    return this.#link.withStores((stores) => this.#list.get(() => readHosts(stores)));
  }

  /** Drops the list after a change: the next one is read again. */
  forget(): void {
    this.#list.forget();
  }
}

async function readHosts({ runs, hosts }: LinkedStores): Promise<FoundHosts> {
  const byName = new Map<string, ListedHost>();
  const paused = await hosts.paused(MOST_PAUSED);
  for (const { host, ...circumstances } of paused) byName.set(host, { host, waiting: 0, runs: [], circumstances });
  const open = await runs.tallies(MOST_RUNS);
  let isAll = paused.length < MOST_PAUSED && open.length < MOST_RUNS;
  const waiting = open.filter((each) => each.waiting > 0);
  for (const read of await hostsOfRuns(runs, waiting, MOST_READ)) {
    isAll &&= read.isAll;
    for (const line of read.lines) addLine(byName, read.run, line);
  }
  const found = [...byName.values()].sort(compareHosts);
  return { hosts: found, isAll };
}

/** Adds a host of a run to those of the runs before. Of its paces, the slowest counts. */
function addLine(byName: Map<string, ListedHost>, run: string, { host, waiting, ...circumstances }: HostLine): void {
  const known = byName.get(host);
  const isSlower = (circumstances.intervalMs ?? 0) > (known?.circumstances.intervalMs ?? -1);
  byName.set(host, {
    host,
    waiting: (known?.waiting ?? 0) + waiting,
    runs: [...(known?.runs ?? []), run],
    circumstances: known === undefined || isSlower ? circumstances : known.circumstances,
  });
}

/** Orders hosts by their waiting tasks, most first, then by name. */
export function compareHosts(a: HostKey, b: HostKey): number {
  if (a.waiting !== b.waiting) return b.waiting - a.waiting;
  return a.host === b.host ? 0 : a.host < b.host ? -1 : 1;
}
