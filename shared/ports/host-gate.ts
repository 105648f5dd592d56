import { DAY_MS, MINUTE_MS } from '../task/durations.ts';

/**
 * Decides when a host may be asked, for the whole fleet.
 *
 * The limit is a spacing (GCRA), not a count per window: in any k intervals, at most k + 1 requests start. A slot is
 * reserved only if it comes within {@link MAX_SLOT_WAIT_MS}, or within the longer wait that the caller allows. If the store can't
 * answer, `ask` rejects and nothing is fetched: politeness fails closed.
 *
 * Implementations: `stores/redis/host-gate.ts` for a fleet, `stores/sqlite/host-gate.ts` for one machine.
 */
export interface HostGate {
  /**
   * Asks for the next slot of a host. `holder` names the request, so that asking again replaces its earlier grant.
   *
   * @param longestWaitMs longest wait for the host's pace, by default {@link MAX_SLOT_WAIT_MS}; waiting for a pause to end never
   *   takes longer than that default
   */
  ask(host: string, limit: HostLimit, holder: string, longestWaitMs?: number): Promise<Grant>;
  /** Returns whether a slot is still valid after the wait for it: `false` if the host has been paused in the meantime. */
  stillOpen(host: string): Promise<boolean>;
  /**
   * Ends a request, or with no `end` a grant that was not used. Frees its place, and adjusts the host's pace to the response
   * time, which a failure can raise but never lower. Costs nothing when places aren't counted.
   */
  leave(host: string, limit: HostLimit, holder: string, end?: RequestEnd): Promise<void>;
  /** Reports that a request is being sent well after its slot: the next slot comes no sooner than {@link afterLateMs} from now. */
  sentLate(host: string, limit: HostLimit): Promise<void>;
  /** Pauses a host for everybody, including release. Does not shorten a longer pause. */
  pause(host: string, ms: number, reason: string): Promise<void>;
  /**
   * Sets the host's Crawl-delay, the least time between two requests, and how long it holds. It applies to everybody,
   * including release, from now on. Does not replace a longer one.
   */
  slow(host: string, intervalMs: number, forMs: number): Promise<void>;
  /** Pauses a host until it is resumed, or until {@link LONGEST_PAUSE_MS} have passed. Returns the pause before. */
  pauseByHand(host: string, reason: string): Promise<Pause | undefined>;
  /** Ends a pause, by hand or not, and returns it. Tasks that waited for it can be released at once. */
  resume(host: string): Promise<Pause | undefined>;
}

/** An optional ability: a limit, set by hand, on how fast a host is asked. Every {@link HostGate} has it. */
export interface HostLimits {
  /**
   * Sets the shortest interval at which runs, and release, may ask the host; slower runs stay slower. 0 ends the limit, which
   * otherwise holds for {@link LONGEST_PAUSE_MS}. Returns the interval of the previous limit; 0 for none.
   */
  limit(host: string, intervalMs: number): Promise<number>;
}

/** How a request went. */
export interface RequestEnd {
  readonly durationMs: number;
  readonly isFailure?: boolean;
}

/** A pause of a host, as it was before a call changed it. The call returns `undefined` if there was none. */
export interface Pause {
  readonly ms: number;
  readonly reason: string;
  readonly byHand: boolean;
  /** The host failed too often in a row. At the end of the pause, a single task tries it. */
  readonly isUnreachable?: true;
}

/** Longest pause by hand, so that a forgotten one ends after a year. */
export const LONGEST_PAUSE_MS = 365 * DAY_MS;

/** Longest wait for a slot in a worker. Longer ones are spent in the frontier, where they don't hold up tasks of other hosts. */
export const MAX_SLOT_WAIT_MS = 250;

/** Furthest ahead that a caller which occupies no worker slot may reserve a slot. */
export const LONGEST_SLOT_WAIT_MS = MINUTE_MS;

/** A host's limits. The gate takes a longer interval if there are reasons for one; see `task/host/host-pace.ts`. */
export interface HostLimit {
  /** Milliseconds between the starts of two requests, by the run's rate; 0 for no limit. */
  readonly intervalMs: number;
  /** Maximum open requests; 0 for no limit. */
  readonly concurrency: number;
}

/** If `granted`, start after `inMs`. Otherwise nothing was reserved: ask again in `inMs`, not sooner. */
export interface Grant {
  readonly granted: boolean;
  readonly inMs: number;
  /** The reason for a refusal: the host's pace, its open requests, or a pause. */
  readonly because?: 'pace' | 'concurrency' | 'pause';
}

/**
 * Returns the least time from a request that was sent late to the next slot. It is a tenth less than an interval, as after a
 * request that was just not late enough to be reported.
 */
export function afterLateMs(intervalMs: number): number {
  return Math.ceil(0.9 * intervalMs);
}

/**
 * Returns how late a slot can still be used: a tenth of the interval, at least 5 ms, at most 100 ms. After that, the request
 * of the next slot may be too close, so the worker asks again.
 */
export function slotToleranceMs(intervalMs: number): number {
  return Math.min(100, Math.max(5, intervalMs / 10));
}
