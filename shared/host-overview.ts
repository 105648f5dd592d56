/**
 * The hosts of all runs, as a person or an autoscaler asks about them.
 *
 * Implementations stand beside the frontier's, in `frontiers/redis` and `frontiers/memory`.
 */
export interface HostOverview {
  /** Hosts that may be asked now and have something waiting. A host that two runs name counts twice. */
  due(): Promise<number>;
  /** The hosts that are paused, those paused longest first. */
  paused(limit: number): Promise<readonly PausedHost[]>;
}

export interface PausedHost {
  readonly host: string;
  readonly pausedMs: number;
  readonly reason: string;
  /** By hand: until somebody ends it. */
  readonly byHand: boolean;
}
