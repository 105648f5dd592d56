import {
  afterLateMs,
  type Grant,
  type HostGate,
  type HostLimit,
  type HostLimits,
  MAX_SLOT_WAIT_MS,
  type Pause,
  type RequestEnd,
} from '../../ports/host-gate.ts';
import { averageResponseMs } from '../../task/host/host-pace.ts';
import { RETRY_AFTER_CAP_MS } from '../../task/host/retry-after.ts';
import { PLACE_LEASE_MS, SHORTEST_PLACE_WAIT_MS, UNKNOWN_RESPONSE_MS } from '../policy.ts';
import { leavePlace, takePlace } from './moves/held-places.ts';
import type { LocalStore } from './moves/local-store.ts';
import type { Moves } from './moves/moves.ts';
import { limitHost, paceOf, pauseHost, pauseHostByHand, resumeHost, slowHost } from './moves/rows/host-rows.ts';
import { NO_TROUBLE } from './moves/troubles.ts';

/** The gate of one machine: all its local crawls share the limits of a host. */
export class SqliteHostGate implements HostGate, HostLimits {
  readonly #store: LocalStore;

  constructor({ store }: { readonly store: LocalStore }) {
    this.#store = store;
  }

  async ask(name: string, limit: HostLimit, holder: string, longestWaitMs = MAX_SLOT_WAIT_MS): Promise<Grant> {
    return await this.#store.move((moves) => ask(moves, name, limit, { holder, longestWaitMs }));
  }

  async stillOpen(name: string): Promise<boolean> {
    return await this.#store.move((moves) => moves.host(name).pausedUntil <= moves.now);
  }

  async leave(name: string, { concurrency }: HostLimit, holder: string, end?: RequestEnd): Promise<void> {
    if (concurrency === 0) return;
    const { durationMs, isFailure = false } = end ?? {};
    await this.#store.move((moves) => {
      const host = moves.host(name);
      leavePlace(host, holder);
      if (durationMs === undefined) return;
      const average = averageResponseMs(host.responseMs ?? undefined, durationMs, isFailure);
      if (average === undefined) return;
      host.responseMs = average;
      host.responseInterval = Math.ceil(average / concurrency);
    });
  }

  async sentLate(name: string, { intervalMs }: HostLimit): Promise<void> {
    if (intervalMs === 0) return;
    await this.#store.move((moves) => {
      const host = moves.host(name);
      host.nextAt = Math.max(host.nextAt, moves.now + afterLateMs(intervalMs));
    });
  }

  async pause(name: string, ms: number, reason: string): Promise<void> {
    await this.#store.move((moves) => pauseHost(moves.host(name), Math.round(ms), reason, moves.now));
  }

  async slow(name: string, intervalMs: number, forMs: number): Promise<void> {
    await this.#store.move((moves) => slowHost(moves.host(name), Math.ceil(intervalMs), Math.round(forMs), moves.now));
  }

  async limit(name: string, intervalMs: number): Promise<number> {
    return await this.#store.move((moves) => {
      const host = moves.host(name);
      const was = limitHost(host, Math.ceil(intervalMs), moves.now);
      if (was > intervalMs) moves.wakeEverywhere(name);
      return was;
    });
  }

  async pauseByHand(name: string, reason: string): Promise<Pause | undefined> {
    return await this.#store.move((moves) => pauseHostByHand(moves.host(name), reason, moves.now));
  }

  async resume(name: string): Promise<Pause | undefined> {
    return await this.#store.move((moves) => {
      const was = resumeHost(moves.host(name), moves.now);
      if (was === undefined) return undefined;
      for (const run of moves.openRuns()) Object.assign(moves.runHost(run, name), NO_TROUBLE);
      moves.wakeEverywhere(name);
      return was;
    });
  }
}

interface Asker {
  readonly holder: string;
  readonly longestWaitMs: number;
}

function ask(
  moves: Moves,
  name: string,
  { intervalMs, concurrency }: HostLimit,
  { holder, longestWaitMs }: Asker,
): Grant {
  const { now } = moves;
  const host = moves.host(name);
  const farthest = now + RETRY_AFTER_CAP_MS;
  const { intervalMs: interval } = paceOf(host, Math.ceil(intervalMs), now);
  const paused = Math.min(host.pausedUntil, farthest);
  if (paused > now + MAX_SLOT_WAIT_MS) return { granted: false, inMs: paused - now, because: 'pause' };
  let slot = Math.max(now, paused);
  if (interval > 0) slot = Math.max(slot, Math.min(host.nextAt, farthest));
  if (slot > now + longestWaitMs) return { granted: false, inMs: slot - now, because: 'pace' };
  if (concurrency > 0 && !takePlace(host, { holder, most: concurrency, till: slot + PLACE_LEASE_MS, now })) {
    const wait = Math.ceil((host.responseMs ?? UNKNOWN_RESPONSE_MS) / concurrency);
    return { granted: false, inMs: Math.max(SHORTEST_PLACE_WAIT_MS, wait), because: 'concurrency' };
  }
  if (interval > 0) host.nextAt = slot + interval;
  return { granted: true, inMs: slot - now };
}
