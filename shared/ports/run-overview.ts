import type { HostTrouble } from '../task/host/host-trouble.ts';
import type { HostCircumstances } from './host-overview.ts';
import type { RunProgress } from './runs.ts';

/**
 * All runs at a glance: for people, for programs that show them, and for workers that stop when all runs have ended.
 *
 * Ended runs make no answer slower, and no answer blocks the store for more than a few milliseconds, however many hosts a run
 * has: counters are kept up to date, and lists are read up to their limit, long ones in parts.
 *
 * Every {@link Runs} has this ability, and passes `test/contract/suites/run-overview.contract.ts`.
 */
export interface RunOverview {
  /** Returns the numbers of runs, all read at one moment. */
  counts(): Promise<RunCounts>;
  /** Returns the runs that the store knows, newest first. */
  list(limit: number): Promise<readonly string[]>;
  /** Returns the runs that have not ended, the most recently opened first. */
  listOpen(limit: number): Promise<readonly string[]>;
  /** Returns the main counters of the open runs, the most recently opened first. Damaged runs are left out. */
  tallies(limit: number): Promise<readonly RunTally[]>;
  /**
   * Returns the hosts that a run's tasks wait for, the one whose next check is furthest away first. A host that changes its
   * place while a long list is read in parts may be missing.
   */
  hosts(run: string, limit: number): Promise<readonly HostLine[]>;
  /** Returns the number of hosts that a run's tasks wait for; 0 if the run is unknown. */
  hostCount(run: string): Promise<number>;
}

export interface RunCounts {
  /** Number of runs that the store knows. */
  readonly known: number;
  /** Number of these runs that have not ended. A run that waits for seeds is open. */
  readonly open: number;
}

/** The main counters of a run: cheap enough to be read each second for thousands of runs. */
export type RunTally = Pick<
  RunProgress,
  'run' | 'startedAt' | 'readAt' | 'waiting' | 'inFlight' | 'done' | 'skipped' | 'failed'
>;

/** A host with waiting tasks. */
export interface HostLine extends HostCircumstances {
  readonly host: string;
  readonly waiting: number;
  /** Its errors in this run since its last healthy answer. Absent if there were none. */
  readonly trouble?: HostLineTrouble;
}

/** Why and when a host will be given up. */
export interface HostLineTrouble extends Pick<HostTrouble, 'kind' | 'reason'> {
  /** When it will be given up if it keeps failing; epoch milliseconds, by the store's clock. Absent until release has checked it. */
  readonly giveUpAt?: number;
}
