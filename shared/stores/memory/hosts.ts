import { LONGEST_HOLD_MS, type Pause } from '../../ports/host-gate.ts';
import type { HostCircumstances } from '../../ports/host-overview.ts';
import type { Faults } from '../../task/host/breaker.ts';
import { type HostPace, longestInterval } from '../../task/host/host-pace.ts';
import { RETRY_AFTER_CAP_MS } from '../../task/host/retry-after.ts';

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
  /** What its robots.txt asks for, and until when that counts. */
  crawlDelay: number;
  crawlDelayUntil: number;
  /** A moving average, and what it makes of the interval. */
  responseMs: number | undefined;
  responseInterval: number;
  /** To what it was slowed, when, and what it had said; 0 if it isn't. */
  slowMs: number;
  slowSince: number;
  slowReason: string;
  /** How often it said "slow down" since it last answered in order. */
  throttles: number;
  /** When it last answered in order after that; 0 for never. */
  answeredAt: number;
  /** Errors in a row. */
  failing: Faults | undefined;
  /** How often its breaker opened in a row, and until when it is open; 0 times: it is closed. */
  opened: number;
  openUntil: number;
  /** The one task that tries it, and until when that is waited for. */
  probe: string;
  probeUntil: number;
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
        crawlDelay: 0,
        answeredAt: 0,
        crawlDelayUntil: 0,
        responseMs: undefined,
        responseInterval: 0,
        ...UNTROUBLED,
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

  /** The host wants so long between two requests; a longer delay stands. */
  slow(host: string, intervalMs: number, forMs: number, now: number): void {
    const known = this.get(host);
    known.nextAt = Math.max(known.nextAt, now + intervalMs);
    if (known.crawlDelayUntil > now && known.crawlDelay > intervalMs) return;
    known.crawlDelay = intervalMs;
    known.crawlDelayUntil = now + forMs;
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
    if (was !== undefined) {
      Object.assign(known, UNTROUBLED);
      this.#onResumed(host, now);
    }
    return was;
  }

  whenResumed(listener: (host: string, now: number) => void): void {
    this.#onResumed = listener;
  }

  entries(): IterableIterator<[string, MemoryHost]> {
    return this.#hosts.entries();
  }
}

/** A host that nothing has been said against. */
const UNTROUBLED = {
  slowMs: 0,
  slowSince: 0,
  slowReason: '',
  throttles: 0,
  failing: undefined,
  opened: 0,
  openUntil: 0,
  probe: '',
  probeUntil: 0,
};

function pauseOf({ pausedUntil, reason, byHand, opened, openUntil }: MemoryHost, now: number): Pause | undefined {
  if (pausedUntil <= now) return undefined;
  const isUnreachable = opened > 0 && pausedUntil === openUntil;
  return { ms: pausedUntil - now, reason, byHand, ...(isUnreachable ? { isUnreachable } : {}) };
}

/** The run's own interval, or that of a slower run that named the host a short while ago. */
export function rateOf(host: MemoryHost, own: number, now: number): number {
  return host.interval > own && host.intervalUntil > now ? host.interval : own;
}

/** The interval that counts, for whatever reason. */
export function paceOf(host: MemoryHost, own: number, now: number): HostPace {
  const { responseMs, responseInterval, slowMs, slowReason } = host;
  return {
    ...longestInterval({
      rate: rateOf(host, own, now),
      answers: responseInterval,
      robots: host.crawlDelayUntil > now ? host.crawlDelay : 0,
      slowed: slowMs,
    }),
    ...(responseMs === undefined ? {} : { responseMs }),
    ...(slowReason === '' ? {} : { slowReason }),
  };
}

/** What keeps a host waiting. */
export function circumstancesOf(host: MemoryHost, own: number, now: number): HostCircumstances {
  const pause = pauseOf(host, now);
  return {
    ...paceOf(host, own, now),
    pausedMs: pause?.ms ?? 0,
    reason: host.reason,
    byHand: host.byHand,
    isUnreachable: host.opened > 0 && (pause === undefined || pause.isUnreachable === true),
  };
}
