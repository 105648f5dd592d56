/** What both frontiers have to know of a deployment. */
export interface FrontierPolicy {
  /** Open requests to one host, fleet-wide; 0 for no limit. Release goes no faster than they can be made. */
  readonly hostConcurrency: number;
  /** A host that gives a run nothing but errors for so long is down. */
  readonly giveUpMs: number;
  /** How long a delivery may sit in each queue; a queued lease outlives it by 5 minutes. */
  readonly priorityTtlMs: number;
  readonly normalTtlMs: number;
}

/** A task is released at most so long before its slot: what waits in a worker keeps others out of it. */
export const LEAD_MS = 250;

/** Tasks dropped by one `drain`: about a millisecond of Redis' time, so that a run of a million blocks nobody. */
export const MOST_DRAINED = 250;

/** Tasks put back by one `reap`. */
export const MOST_REAPED = 500;

/** From so many throttled answers on, a task waits at the tail of its host's list, so that others are tried. */
export const THROTTLES_BEFORE_TAIL = 4;
