import type { ReleaseName } from './frontier.ts';

/** An optional ability, for recovery from a wiped broker: its tasks would otherwise come back only when their leases lapse. */
export interface QueuedLeases {
  /**
   * Ends the leases of a run's queued tasks, some hundreds a call. Each task waits again, at the cost of no attempt. `next` is
   * where to continue; without it, all are done. Safe at any time: a delivery that still exists is then stale and gets dropped.
   */
  endQueued(run: string, from?: string): Promise<{ readonly ended: number; readonly next: string | undefined }>;
}

/** An optional ability, for deliveries that are acked on hand-over (see `AckMode`). */
export interface HandOvers {
  /**
   * Notes that these releases now exist only in a worker's hands: their leases end in 60 s unless they are admitted. Counts no
   * start, and leaves releases that are already admitted as they are. At most a few thousand a call.
   */
  handed(run: string, releases: readonly ReleaseName[]): Promise<void>;
}
