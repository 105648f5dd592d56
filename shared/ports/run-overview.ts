import type { HostCircumstances } from './host-overview.ts';

/**
 * The runs as a whole, for people, for programs that show them, and for workers that stop once all is done.
 *
 * No answer takes longer for runs that ended long ago, and none holds the store for longer than a few milliseconds, however
 * many hosts a run has: what is counted is kept counted, and lists are read up to their limit, long ones in parts.
 *
 * Every {@link Runs} has this ability, and passes `test/contract/run-overview.contract.ts`.
 */
export interface RunOverview {
  /** Both read at one moment. */
  counts(): Promise<RunCounts>;
  /** The runs that the store knows, newest first. */
  list(limit: number): Promise<readonly string[]>;
  /** The runs that have not ended, those opened last first. */
  listOpen(limit: number): Promise<readonly string[]>;
  /**
   * What the waiting tasks of a run wait for: its hosts, first those that release looks at last. A host that moves between
   * two parts of a long list may be missing.
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
}
