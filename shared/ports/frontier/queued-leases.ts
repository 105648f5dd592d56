import type { ReleaseName } from './frontier.ts';

/** An optional ability, for after a broker was wiped: what it held would come back only when its leases lapse. */
export interface QueuedLeases {
  /**
   * Ends the leases of a run's queued tasks, some hundreds a call; each waits again, at no attempt. `next` says where to
   * continue; without it, all were seen. Safe at any time: a delivery that exists after all is stale, and is dropped.
   */
  endQueued(run: string, from?: string): Promise<{ readonly ended: number; readonly next: string | undefined }>;
}

/** An optional ability, for deliveries that count as acked when they are handed over. */
export interface HandOvers {
  /**
   * These releases are in a worker's hands now, and nowhere else: their leases end in 60 s, unless they are admitted. Counts
   * no start, and changes nothing of one that was admitted first. At most some thousands a call.
   */
  handed(run: string, releases: readonly ReleaseName[]): Promise<void>;
}
