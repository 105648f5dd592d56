import { DAY_MS, MINUTE_MS } from '../task/durations.ts';

/**
 * Decides when a host may be asked, for the whole fleet.
 *
 * The limit is a spacing (GCRA), not a count per window: in any k intervals, at most k + 1 requests start. A slot is
 * reserved when it comes within {@link MAX_SLOT_WAIT_MS}, or as far ahead as the asker can wait; otherwise nothing is reserved. If
 * the store can't answer, `ask` rejects and nothing is fetched: politeness fails closed.
 *
 * Implementations: `stores/redis/host-gate.ts` for a fleet, `stores/sqlite/host-gate.ts` for one machine.
 */
export interface HostGate {
  /**
   * Asks for the next slot of a host. `holder` names the request, so that asking again replaces what it was granted before.
   *
   * @param longestWaitMs for the host's pace; default: {@link MAX_SLOT_WAIT_MS}, as for a pause to end in any case
   */
  ask(host: string, limit: HostLimit, holder: string, longestWaitMs?: number): Promise<Grant>;
  /** Is a slot still valid after the wait for it? Not if the host was paused meanwhile. */
  stillOpen(host: string): Promise<boolean>;
  /**
   * The request is over; without an end, none was made. Frees its place, and adjusts the host's pace to its response time,
   * which a failure may raise but never lower. Costs nothing when places aren't counted.
   */
  leave(host: string, limit: HostLimit, holder: string, end?: RequestEnd): Promise<void>;
  /** A request that had its slot is sent only now, well after it: the next slot comes no sooner than {@link afterLateMs} from now. */
  sentLate(host: string, limit: HostLimit): Promise<void>;
  /** Pauses a host for everybody, for release as well. A longer pause stands. */
  pause(host: string, ms: number, reason: string): Promise<void>;
  /**
   * Sets the host's Crawl-delay, the least time between two requests, and how long it holds. It applies to everybody, to
   * release as well, from now on. A longer one stands.
   */
  slow(host: string, intervalMs: number, forMs: number): Promise<void>;
  /** Pauses a host until it is resumed, or {@link LONGEST_PAUSE_MS} have passed. */
  pauseByHand(host: string, reason: string): Promise<Pause | undefined>;
  /** Ends a pause, by hand or not; what waited for it may be released at once. */
  resume(host: string): Promise<Pause | undefined>;
}

/** An optional ability: a limit by hand on how fast a host is asked. Every {@link HostGate} has it. */
export interface HostLimits {
  /**
   * From now on, no run asks the host faster than this, and release keeps to it as well; slower runs stay slower. 0 ends the limit.
   * It stands until then, or for {@link LONGEST_PAUSE_MS}. Returns the interval of the limit before; 0 for none.
   */
  limit(host: string, intervalMs: number): Promise<number>;
}

/** How a request went. */
export interface RequestEnd {
  readonly durationMs: number;
  readonly isFailure?: boolean;
}

/** The pause that a host was in before; nothing if it was in none. */
export interface Pause {
  readonly ms: number;
  readonly reason: string;
  readonly byHand: boolean;
  /** It failed too often in a row: at the end of the pause, a single task tries it. */
  readonly isUnreachable?: true;
}

/** A pause by hand that everybody has forgotten ends after a year. */
export const LONGEST_PAUSE_MS = 365 * DAY_MS;

/** A longer wait for a slot is spent in the frontier: in a worker, it would hold up tasks of other hosts. */
export const MAX_SLOT_WAIT_MS = 250;

/** Who waits outside of a worker's slots may reserve one this far ahead. */
export const LONGEST_SLOT_WAIT_MS = MINUTE_MS;

/** A host's limits. Where other reasons ask for more, the gate takes the longer interval; see `task/host/host-pace.ts`. */
export interface HostLimit {
  /** Milliseconds between two starts, by the run's rate; 0 for no limit. */
  readonly intervalMs: number;
  /** Open requests at once; 0 for no limit. */
  readonly concurrency: number;
}

/** `granted`: start after `inMs`. Otherwise: nothing was reserved; ask again in `inMs`, not sooner. */
export interface Grant {
  readonly granted: boolean;
  readonly inMs: number;
  /** What refused it: the host's pace, its open requests, or a pause. */
  readonly because?: 'pace' | 'concurrency' | 'pause';
}

/**
 * How soon the next slot may come after a request that was sent late: a tenth less than an interval, as after one that was just not late
 * enough to be reported.
 */
export function afterLateMs(intervalMs: number): number {
  return Math.ceil(0.9 * intervalMs);
}

/**
 * How late a slot may still be used: a tenth of the interval, at least 5 ms, at most 100 ms. Later, the next slot's
 * request may be close, so the worker asks again.
 */
export function slotToleranceMs(intervalMs: number): number {
  return Math.min(100, Math.max(5, intervalMs / 10));
}
