import { MINUTE_MS, SECOND_MS } from '../task/durations.ts';

/** The settings of a deployment that both frontiers need. */
export interface FrontierPolicy {
  /** Maximum open requests to one host, fleet-wide; 0 for no limit. Tasks are released no faster than this allows requests. */
  readonly hostConcurrency: number;
  /** Time after which a host that gives a run nothing but errors is down. */
  readonly giveUpMs: number;
  /** Longest time that a delivery sits in each queue; a queued lease outlives it by 5 minutes. */
  readonly priorityTtlMs: number;
  readonly normalTtlMs: number;
}

/** The lease of a task that is being published. */
export const PUBLISHING_MS = MINUTE_MS;
/** A queued task is left alone until this long after its queue's TTL, or after its deadline if that is sooner. */
export const QUEUED_PAST_TTL_MS = 5 * MINUTE_MS;
export const QUEUED_PAST_DEADLINE_MS = MINUTE_MS;

/** Time for which an open request keeps its place at a host: longer than any request takes. */
export const PLACE_LEASE_MS = 2 * MINUTE_MS;
/** A host's assumed response time until one was measured. */
export const UNKNOWN_RESPONSE_MS = 100;
/** A request that found no place at a host asks again no sooner than this. */
export const SHORTEST_PLACE_WAIT_MS = 10;

/** A run's interval for a host binds other runs too: for two such intervals and this long after its last release there. */
export const INTERVAL_KNOWN_MS = 10 * SECOND_MS;

/**
 * Maximum hosts, runs and retries that one `release` visits. A paused host costs a fraction of what another does, so there are more
 * looks than tasks: hosts behind thousands of paused ones are reached sooner.
 */
export const MOST_LOOKS = 600;
export const MOST_RUNS_LOOKED_AT = 100;
/** Maximum runs whose due hosts are counted: some milliseconds. */
export const MOST_RUNS_COUNTED = 2_000;
export const MOST_RETRIES_WOKEN = 100;
/** The highest first release number of a run, whatever the clock says: a little below 2^53, so that numbers stay exact. */
export const HIGHEST_START = 9_000_000_000_000_000;

/**
 * The number of tasks out at once adapts to what workers get done. A delivery is late when it is admitted this long after its
 * release: workers have more than they can do, and all later releases, of any run, wait behind it.
 */
export const LATE_MS = 200;
/** The window begins with this, and doubles until deliveries first come late; from then on it shrinks or grows by the factors below. */
export const FIRST_WINDOW = 1_000;
export const WINDOW_EVERY_MS = 500;
export const WINDOW_SHRINKS_TO = 0.8;
export const WINDOW_GROWS_TO = 1.1;
/** Late deliveries don't shrink the window below this share of its maximum, which is four per slot: every slot has enough to do. */
export const LEAST_WINDOW_SHARE = 0.4;

/**
 * Longest time between a task's release and its slot. While it waits in a worker, it keeps others out and takes memory: an object that
 * outlives two collections of young objects is copied twice, and freed only by a full collection.
 */
export const LEAD_MS = 100;
/** The same for hosts that are asked more often than this, so that one look releases several of their tasks. */
export const FAST_LEAD_MS = 250;
/** Time until the next look when nothing waits. */
export const IDLE_LOOK_MS = 250;
/** Interval between two checks whether there is room again. */
export const ROOM_LOOK_MS = SECOND_MS;

/** Maximum tasks dropped by one `drain`: about a millisecond of Redis' time, so that a run of a million doesn't block Redis. */
export const MOST_DRAINED = 250;

/** Maximum tasks put back by one `reap`. */
export const MOST_REAPED = 500;

/** From this many throttled answers on, a task waits at the tail of its host's list, so that others are tried. */
export const THROTTLES_BEFORE_TAIL = 4;
