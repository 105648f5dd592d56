import { LONGEST_HOLD_MS, type Pause } from '../../host-gate.ts';
import { RETRY_AFTER_CAP_MS } from '../../task/retry-after.ts';

/** What is known of one host, for release and for the gate: the memory form of `ratelimit:<host>`. */
export interface MemoryHost {
  /** The gate's next free slot. */
  nextAt: number;
  pausedUntil: number;
  reason: string;
  /** Paused by hand, until somebody ends it. */
  byHand: boolean;
  /** Release's cursor, shared by all runs. */
  releaseAt: number;
  /** The slowest interval that a run asked for lately, and until when it counts. */
  interval: number;
  intervalUntil: number;
  /** A moving average. */
  responseMs: number | undefined;
  /** Requests under way, each until its lease ends. */
  readonly open: Map<string, number>;
}

/** The hosts of one process, shared by its frontier and its gate. */
export class MemoryHosts {
  readonly #hosts = new Map<string, MemoryHost>();
  #onResumed: (host: string, now: number) => void = () => {};

  get(host: string): MemoryHost {
    let known = this.#hosts.get(host);
    if (known === undefined) {
      known = {
        nextAt: 0,
        pausedUntil: 0,
        reason: '',
        byHand: false,
        releaseAt: 0,
        interval: 0,
        intervalUntil: 0,
        responseMs: undefined,
        open: new Map(),
      };
      this.#hosts.set(host, known);
    }
    return known;
  }

  /** Quiets a host; a longer pause stands. */
  pause(host: string, ms: number, reason: string, now: number): void {
    const known = this.get(host);
    const till = now + Math.min(ms, RETRY_AFTER_CAP_MS);
    if (till > known.pausedUntil) {
      known.pausedUntil = till;
      known.reason = reason;
    }
  }

  /** Quiets a host until somebody ends it. Returns the pause that it was in. */
  hold(host: string, reason: string, now: number): Pause | undefined {
    const known = this.get(host);
    const was = pauseOf(known, now);
    known.pausedUntil = now + LONGEST_HOLD_MS;
    known.reason = reason;
    known.byHand = true;
    return was;
  }

  /** Ends a pause, and tells the frontier, which may look at the host at once. Returns the pause that it was in. */
  resume(host: string, now: number): Pause | undefined {
    const known = this.get(host);
    const was = pauseOf(known, now);
    known.pausedUntil = 0;
    known.reason = '';
    known.byHand = false;
    if (was !== undefined) this.#onResumed(host, now);
    return was;
  }

  whenResumed(listener: (host: string, now: number) => void): void {
    this.#onResumed = listener;
  }

  entries(): IterableIterator<[string, MemoryHost]> {
    return this.#hosts.entries();
  }
}

function pauseOf({ pausedUntil, reason, byHand }: MemoryHost, now: number): Pause | undefined {
  return pausedUntil > now ? { ms: pausedUntil - now, reason, byHand } : undefined;
}

/** The interval that counts: the run's own, or that of a slower run that named the host a short while ago. */
export function slowestInterval(host: MemoryHost, own: number, now: number): number {
  return host.interval > own && host.intervalUntil > now ? host.interval : own;
}
