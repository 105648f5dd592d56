import type { HostPace } from '../task/host/host-pace.ts';

/**
 * The hosts of all runs, for people and autoscalers.
 *
 * Implementations stand beside the frontier's, in `stores/redis` and `stores/sqlite`.
 */
export interface HostOverview {
  /** Hosts that may be asked now and have something waiting. A host that two runs name counts twice. */
  due(): Promise<number>;
  /** For how many milliseconds the host among them that waits longest could have been asked; 0 if there is none. */
  oldestDueMs(): Promise<number>;
  /** The hosts that are paused, those paused longest first. */
  paused(limit: number): Promise<readonly PausedHost[]>;
}

export interface PausedHost {
  readonly host: string;
  readonly pausedMs: number;
  readonly reason: string;
  /** By hand: until somebody ends it. */
  readonly byHand: boolean;
  /** It failed too often in a row: at the end of the pause, a single task tries it. */
  readonly isUnreachable: boolean;
}

/** What may keep a host's tasks waiting. */
export interface HostCircumstances extends HostPace {
  /** Milliseconds that it is still paused, and why; 0 if it isn't. */
  readonly pausedMs: number;
  readonly reason: string;
  /** Paused by hand: until somebody ends it. */
  readonly byHand: boolean;
  /** It failed too often in a row: it is paused, or tried by a single task just now. */
  readonly isUnreachable: boolean;
}
