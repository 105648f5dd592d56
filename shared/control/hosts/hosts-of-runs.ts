import type { HostLine, RunOverview } from '../../ports/run-overview.ts';
import { DamagedRunError } from '../../runtime/errors.ts';

/** Runs read at once, so that the store is not kept busy for long. */
const AT_ONCE = 10;

/** The hosts that a run's tasks wait for, as far as they were read. */
export interface HostsOfRun {
  readonly run: string;
  readonly lines: readonly HostLine[];
  /** False if the run may have more hosts. */
  readonly isAll: boolean;
}

interface WaitingRun {
  readonly run: string;
  readonly waiting: number;
}

/**
 * Reads the hosts of several runs, of each those whose next check is furthest away. Each run gets an equal share of what is left, those with
 * the fewest waiting tasks first, so that what they leave goes to the large ones. A damaged run has no hosts.
 *
 * @param most maximum number of hosts, over all runs
 */
export async function hostsOfRuns(
  runs: Pick<RunOverview, 'hosts'>,
  waiting: readonly WaitingRun[],
  most: number,
): Promise<readonly HostsOfRun[]> {
  const fewestFirst = waiting.toSorted((a, b) => a.waiting - b.waiting);
  const found: HostsOfRun[] = [];
  let left = most;
  for (let at = 0; at < fewestFirst.length; at += AT_ONCE) {
    let room = left;
    const reading = fewestFirst.slice(at, at + AT_ONCE).map(({ run, waiting }, i) => {
      const share = Math.floor(room / (fewestFirst.length - at - i));
      // It has no more hosts than waiting tasks.
      room -= Math.min(share, waiting);
      return hostsOf(run, runs, share);
    });
    for (const each of await Promise.all(reading)) {
      left -= each.lines.length;
      found.push(each);
    }
  }
  return found;
}

async function hostsOf(run: string, runs: Pick<RunOverview, 'hosts'>, most: number): Promise<HostsOfRun> {
  try {
    const lines = await runs.hosts(run, most);
    return { run, lines, isAll: lines.length < most };
  } catch (error: unknown) {
    if (!(error instanceof DamagedRunError)) throw error;
    return { run, lines: [], isAll: true };
  }
}
