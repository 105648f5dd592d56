import { DAY_MS } from '../task/durations.ts';

/**
 * Says when a host may be asked, for the whole fleet at once.
 *
 * The limit is a spacing (GCRA), not a count per window: in any k intervals, at most k + 1 requests start. A slot is
 * reserved when it comes within {@link MAX_HOLD_MS}; otherwise nothing is reserved. If the store can't answer, `ask`
 * rejects and nothing is fetched: politeness fails closed.
 *
 * Implementations: `stores/redis/host-gate.ts` for a fleet, `stores/sqlite/host-gate.ts` for one machine.
 */
export interface HostGate {
  /** Asks for the next slot of a host. `holder` names the request, so that asking again replaces its own claim. */
  ask(host: string, limit: HostLimit, holder: string): Promise<Grant>;
  /** Is a slot that was waited for still good? Not if the host was paused meanwhile. */
  stillOpen(host: string): Promise<boolean>;
  /**
   * The request is over, and the host took so long; without a duration, none was made. Frees its place, and lets the
   * host's response time count for its pace, which a failure may raise but never lower. Costs nothing when places aren't
   * counted.
   */
  leave(host: string, limit: HostLimit, holder: string, durationMs?: number, isFailure?: boolean): Promise<void>;
  /** Quiets a host for everybody, for release as well. A longer pause stands. */
  pause(host: string, ms: number, reason: string): Promise<void>;
  /**
   * The host wants so long between two requests, for so long: its Crawl-delay. Holds for everybody, for release as well, from
   * now on. A longer one stands.
   */
  slow(host: string, intervalMs: number, forMs: number): Promise<void>;
  /** Quiets a host until it is resumed, however long that takes; {@link LONGEST_HOLD_MS} is the end of it. */
  hold(host: string, reason: string): Promise<Pause | undefined>;
  /** Ends a pause, by hand or not; what waited for it may be released at once. */
  resume(host: string): Promise<Pause | undefined>;
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
export const LONGEST_HOLD_MS = 365 * DAY_MS;

/** A longer wait for a slot belongs to the frontier: in a worker, it keeps tasks of other hosts waiting. */
export const MAX_HOLD_MS = 250;

/** What one host bears. Where it has reasons for more, the gate takes the longer interval; see `task/host-pace.ts`. */
export interface HostLimit {
  /** Milliseconds between two starts, as the run wants them; 0 for no limit. */
  readonly intervalMs: number;
  /** Open requests at once; 0 for no limit. */
  readonly concurrency: number;
}

/** `granted`: start after `inMs`. Otherwise: nothing was reserved, and it is no use to ask sooner than in `inMs`. */
export interface Grant {
  readonly granted: boolean;
  readonly inMs: number;
  /** What refused it: the host's pace, its open requests, or a pause. */
  readonly because?: 'pace' | 'concurrency' | 'pause';
}

/**
 * How long after its time a slot may still be used: a tenth of the interval, at least 5 ms, at most 100 ms. Later, the
 * next slot's request may be near, so the worker asks again.
 */
export function slotToleranceMs(intervalMs: number): number {
  return Math.min(100, Math.max(5, intervalMs / 10));
}
