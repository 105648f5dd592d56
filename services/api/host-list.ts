import { MOST_OPEN } from '../../shared/control/run-list.ts';
import type { HostCircumstances } from '../../shared/ports/host-overview.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { SECOND_MS } from '../../shared/task/durations.ts';
import type { Link, LinkedStores } from './link.ts';
import { SharedRead } from './shared-read.ts';

/** Paused hosts that are read. */
const MOST_PAUSED = 5_000;
/** Hosts read of all runs together, about half a second of the store's time: each run has its share of what those before it left. */
const MOST_READ = 10_000;
/** A list is kept this long, and longer if it was costly: reading it takes a tenth of the store's time at most. */
const KEPT_MS = 2 * SECOND_MS;
const KEPT_FOR_EACH_MS = 9;

/** What is known of a host, over all runs. */
export interface ListedHost {
  readonly host: string;
  waiting: number;
  readonly runs: string[];
  readonly circumstances: Pick<HostCircumstances, 'pausedMs' | 'reason' | 'byHand' | 'isUnreachable'> &
    Partial<HostCircumstances>;
}

/** By which hosts are ordered. */
type HostKey = Pick<ListedHost, 'host' | 'waiting'>;

interface FoundHosts {
  /** Those with most waiting first. */
  readonly hosts: readonly ListedHost[];
  readonly isAll: boolean;
}

/** The hosts of all open runs, and those that are paused. */
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

  /** Something was changed: the next list is read anew. */
  forget(): void {
    this.#list.forget();
  }
}

async function readHosts({ runs, hosts }: LinkedStores): Promise<FoundHosts> {
  const byName = new Map<string, ListedHost>();
  const paused = await hosts.paused(MOST_PAUSED);
  for (const { host, ...circumstances } of paused) byName.set(host, { host, waiting: 0, runs: [], circumstances });
  const open = await runs.listOpen(MOST_OPEN);
  let isAll = paused.length < MOST_PAUSED && open.length < MOST_OPEN;
  let left = MOST_READ;
  for (const [index, run] of open.entries()) {
    const most = Math.ceil(left / (open.length - index));
    const lines = await runs.hosts(run, most);
    left -= lines.length;
    if (lines.length >= most) isAll = false;
    for (const { host, waiting, ...circumstances } of lines) {
      const known = byName.get(host);
      const isSlower = (circumstances.intervalMs ?? 0) > (known?.circumstances.intervalMs ?? -1);
      byName.set(host, {
        host,
        waiting: (known?.waiting ?? 0) + waiting,
        runs: [...(known?.runs ?? []), run],
        circumstances: known === undefined || isSlower ? circumstances : known.circumstances,
      });
    }
  }
  const found = [...byName.values()].sort(compareHosts);
  return { hosts: found, isAll };
}

/** Those with most waiting first, as they are listed. */
export function compareHosts(a: HostKey, b: HostKey): number {
  if (a.waiting !== b.waiting) return b.waiting - a.waiting;
  return a.host === b.host ? 0 : a.host < b.host ? -1 : 1;
}
