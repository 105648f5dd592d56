import type { HostPace } from '../task/host/host-pace.ts';

/**
 * The hosts of all runs, for people and autoscalers.
 *
 * Implementations: beside the frontier's, in `stores/redis` and `stores/sqlite`.
 */
export interface HostOverview {
  /** Returns the number of hosts that may be asked now and have waiting tasks. A host counts once for each run, of which 2,000 are counted. */
  due(): Promise<number>;
  /** Returns for how many milliseconds the longest due of these hosts could have been asked; 0 if there is none. */
  oldestDueMs(): Promise<number>;
  /** Returns the number of paused hosts. */
  pausedCount(): Promise<number>;
  /**
   * Returns the paused hosts, the longest remaining pause first. A long list is read in parts, none of which blocks the store for more
   * than a few milliseconds. A host whose pause changes in between may be missing.
   */
  paused(limit: number): Promise<readonly PausedHost[]>;
}

export interface PausedHost {
  readonly host: string;
  /** Milliseconds until the pause ends. */
  readonly pausedMs: number;
  readonly reason: string;
  /** Paused by hand, until somebody ends the pause. */
  readonly byHand: boolean;
  /** The host failed too often in a row. At the end of the pause, a single task tries it. */
  readonly isUnreachable: boolean;
}

/** The reasons for which a host's tasks may have to wait. */
export interface HostCircumstances extends HostPace {
  /** Milliseconds until its pause ends; 0 if it isn't paused. */
  readonly pausedMs: number;
  /** Why it is paused. */
  readonly reason: string;
  /** Paused by hand, until somebody ends the pause. */
  readonly byHand: boolean;
  /** The host failed too often in a row: it is paused, or a single task is trying it. */
  readonly isUnreachable: boolean;
}
