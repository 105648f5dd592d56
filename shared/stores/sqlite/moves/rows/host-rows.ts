import { LONGEST_PAUSE_MS, type Pause } from '../../../../ports/host-gate.ts';
import type { HostCircumstances } from '../../../../ports/host-overview.ts';
import { SECOND_MS } from '../../../../task/durations.ts';
import type { Faults } from '../../../../task/host/breaker.ts';
import { type HostPace, longestInterval } from '../../../../task/host/host-pace.ts';
import { RETRY_AFTER_CAP_MS } from '../../../../task/host/retry-after.ts';

/** The record of one host, for release and for the gate. */
export type HostRow = {
  readonly host: string;
  /** The gate's next free slot. */
  nextAt: number;
  pausedUntil: number;
  reason: string;
  /** 1: paused by hand, until a person ends the pause. */
  byHand: number;
  /** Release's cursor, shared by all runs. */
  releaseAt: number;
  /** The slowest interval that a run asked for lately, and until when it counts. */
  interval: number;
  intervalUntil: number;
  /** The shortest interval allowed, set by a person; 0 for none. */
  handLimit: number;
  /** What its robots.txt asks for, and until when that counts. */
  crawlDelay: number;
  crawlDelayUntil: number;
  /** A moving average of its response time, and the interval that follows from it. */
  responseMs: number | null;
  responseInterval: number;
  /** When it last gave a healthy answer after it had said "slow down"; 0 for never. */
  answeredAt: number;
  /** The requests that have a place at it, see `held-places.ts`; '' for none. */
  places: string;
} & Troubles;

/** Signs of a host in trouble. */
interface Troubles {
  /** The interval it was slowed to, when, and why; 0 if it isn't slowed. */
  slowMs: number;
  slowSince: number;
  slowReason: string;
  /** How often it said "slow down" since its last healthy answer. */
  throttles: number;
  /** Errors in a row, as {@link Faults} in JSON. */
  failing: string | null;
  /** How often its breaker opened in a row, 0 if it is closed, and until when it is open. */
  opened: number;
  openUntil: number;
  /** The one task that tries it, and until when its result is awaited. */
  probe: string;
  probeUntil: number;
}

const UNTROUBLED: Troubles = {
  slowMs: 0,
  slowSince: 0,
  slowReason: '',
  throttles: 0,
  failing: null,
  opened: 0,
  openUntil: 0,
  probe: '',
  probeUntil: 0,
};

/** Returns the record of a host about which nothing is known. */
export function newHost(host: string): HostRow {
  return {
    host,
    nextAt: 0,
    pausedUntil: 0,
    reason: '',
    byHand: 0,
    releaseAt: 0,
    interval: 0,
    intervalUntil: 0,
    handLimit: 0,
    crawlDelay: 0,
    crawlDelayUntil: 0,
    responseMs: null,
    responseInterval: 0,
    answeredAt: 0,
    places: '',
    ...UNTROUBLED,
  };
}

/** Pauses a host; a longer pause stays. */
export function pauseHost(host: HostRow, ms: number, reason: string, now: number): void {
  const till = now + Math.min(ms, RETRY_AFTER_CAP_MS);
  if (till <= host.pausedUntil) return;
  host.pausedUntil = till;
  host.reason = reason;
}

/** Sets the shortest time between two requests; a longer delay stays. */
export function slowHost(host: HostRow, intervalMs: number, forMs: number, now: number): void {
  host.nextAt = Math.max(host.nextAt, now + intervalMs);
  if (host.crawlDelayUntil > now && host.crawlDelay > intervalMs) return;
  host.crawlDelay = intervalMs;
  host.crawlDelayUntil = now + forMs;
}

/**
 * Limits by hand how fast a host is asked; 0 ends the limit. Returns the limit before. After a limit ends or becomes faster, the next
 * slot is at most as far away as the longest of the new limit, the interval that runs asked for lately, and a second.
 */
export function limitHost(host: HostRow, intervalMs: number, now: number): number {
  const was = host.handLimit;
  host.handLimit = intervalMs;
  if (was > intervalMs) {
    const pace = Math.max(SECOND_MS, intervalMs, host.intervalUntil > now ? host.interval : 0);
    host.nextAt = Math.min(host.nextAt, now + pace);
    host.releaseAt = Math.min(host.releaseAt, now + pace);
  }
  return was;
}

/** Pauses a host until a person resumes it. Returns the pause that it was in. */
export function pauseHostByHand(host: HostRow, reason: string, now: number): Pause | undefined {
  const was = pauseOf(host, now);
  host.pausedUntil = now + LONGEST_PAUSE_MS;
  host.reason = reason;
  host.byHand = 1;
  return was;
}

/** Ends a pause. Returns it, if there was one. */
export function resumeHost(host: HostRow, now: number): Pause | undefined {
  const was = pauseOf(host, now);
  host.pausedUntil = 0;
  host.reason = '';
  host.byHand = 0;
  if (was !== undefined) Object.assign(host, UNTROUBLED);
  return was;
}

export function faultsOf({ failing }: HostRow): Faults | undefined {
  return failing === null ? undefined : (JSON.parse(failing) as Faults);
}

export function isUnreachable({ opened, pausedUntil, openUntil }: HostRow): boolean {
  return opened > 0 && pausedUntil === openUntil;
}

function pauseOf(host: HostRow, now: number): Pause | undefined {
  if (host.pausedUntil <= now) return undefined;
  const { pausedUntil, reason, byHand } = host;
  const pause = { ms: pausedUntil - now, reason, byHand: byHand === 1 };
  return isUnreachable(host) ? { ...pause, isUnreachable: true } : pause;
}

/** Returns the longest of the run's own interval, the limit by hand, and the interval of a slower run that used the host lately. */
export function rateOf(host: HostRow, own: number, now: number): number {
  const rate = Math.max(own, host.handLimit);
  return host.interval > rate && host.intervalUntil > now ? host.interval : rate;
}

/** Returns the longest interval that applies, and its reason. */
export function paceOf(host: HostRow, own: number, now: number): HostPace {
  const { responseMs, responseInterval, slowMs, slowReason } = host;
  return {
    ...longestInterval({
      rate: rateOf(host, own, now),
      answers: responseInterval,
      robots: host.crawlDelayUntil > now ? host.crawlDelay : 0,
      slowed: slowMs,
    }),
    ...(responseMs === null ? {} : { responseMs: Math.round(responseMs) }),
    ...(slowReason === '' ? {} : { slowReason }),
  };
}

/** Returns why a host has to wait. */
export function circumstancesOf(host: HostRow, own: number, now: number): HostCircumstances {
  const pause = pauseOf(host, now);
  return {
    ...paceOf(host, own, now),
    pausedMs: pause?.ms ?? 0,
    reason: host.reason,
    byHand: host.byHand === 1,
    isUnreachable: host.opened > 0 && (pause === undefined || pause.isUnreachable === true),
  };
}
