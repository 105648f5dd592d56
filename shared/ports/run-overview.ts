import type { HostTrouble } from '../task/host/host-trouble.ts';
import type { HostCircumstances } from './host-overview.ts';

/**
 * The runs as a whole: for people, for programs that show them, and for workers that stop when all runs have ended.
 *
 * Runs that have ended make no answer slower, and no answer holds up the store for more than a few milliseconds, however many
 * hosts a run has: counters are kept, and lists are read up to their limit, long ones in parts.
 *
 * Every {@link Runs} has this ability, and passes `test/contract/suites/run-overview.contract.ts`.
 */
export interface RunOverview {
  /** Both numbers are of one moment. */
  counts(): Promise<RunCounts>;
  /** The runs that the store knows, newest first. */
  list(limit: number): Promise<readonly string[]>;
  /** The runs that have not ended, those opened last first. */
  listOpen(limit: number): Promise<readonly string[]>;
  /**
   * What the waiting tasks of a run wait for: its hosts, those whose next look is furthest away first. A host that moves while
   * a long list is read in parts may be missing.
   */
  hosts(run: string, limit: number): Promise<readonly HostLine[]>;
}

export interface RunCounts {
  /** Runs that the store knows. */
  readonly known: number;
  /** Those of them that have not ended. A run that waits for seeds is open. */
  readonly open: number;
}

/** A host with waiting tasks. */
export interface HostLine extends HostCircumstances {
  readonly host: string;
  readonly waiting: number;
  /** What it has given this run since its last healthy answer. Left out: no errors. */
  readonly trouble?: HostLineTrouble;
}

/** Why a host may be given up. */
export interface HostLineTrouble extends Pick<HostTrouble, 'kind' | 'reason'> {
  /** Epoch milliseconds, by the store's clock, if tries go on in vain. Left out: release has not looked at it yet. */
  readonly giveUpAt?: number;
}
