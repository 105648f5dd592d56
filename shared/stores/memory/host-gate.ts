import { type Grant, type HostGate, type HostLimit, MAX_HOLD_MS, type Pause } from '../../ports/host-gate.ts';
import type { Clock } from '../../runtime/clock.ts';
import { averageResponseMs } from '../../task/host/host-pace.ts';
import { RETRY_AFTER_CAP_MS } from '../../task/host/retry-after.ts';
import { PLACE_LEASE_MS, SHORTEST_PLACE_WAIT_MS, UNKNOWN_RESPONSE_MS } from '../policy.ts';
import { type MemoryHosts, paceOf } from './hosts.ts';

/** The gate of one process: the memory form of `gate.lua`. It can't see what other processes ask of a host. */
export class MemoryHostGate implements HostGate {
  readonly #hosts: MemoryHosts;
  readonly #clock: Clock;

  constructor({ hosts, clock }: { readonly hosts: MemoryHosts; readonly clock: Clock }) {
    this.#hosts = hosts;
    this.#clock = clock;
  }

  async ask(name: string, { intervalMs, concurrency }: HostLimit, holder: string): Promise<Grant> {
    const host = this.#hosts.get(name);
    const now = this.#clock.now();
    const farthest = now + RETRY_AFTER_CAP_MS;
    const { intervalMs: interval } = paceOf(host, Math.ceil(intervalMs), now);
    const paused = Math.min(host.pausedUntil, farthest);
    if (paused > now + MAX_HOLD_MS) return { granted: false, inMs: paused - now, because: 'pause' };
    let slot = Math.max(now, paused);
    if (interval > 0) slot = Math.max(slot, Math.min(host.nextAt, farthest));
    if (slot > now + MAX_HOLD_MS) return { granted: false, inMs: slot - now, because: 'pace' };
    if (concurrency > 0) {
      for (const [other, till] of host.open) if (till <= now) host.open.delete(other);
      if (host.open.size >= concurrency && !host.open.has(holder)) {
        const wait = Math.ceil((host.responseMs ?? UNKNOWN_RESPONSE_MS) / concurrency);
        return { granted: false, inMs: Math.max(SHORTEST_PLACE_WAIT_MS, wait), because: 'concurrency' };
      }
      host.open.set(holder, slot + PLACE_LEASE_MS);
    }
    if (interval > 0) host.nextAt = slot + interval;
    return { granted: true, inMs: slot - now };
  }

  async stillOpen(name: string): Promise<boolean> {
    return this.#hosts.get(name).pausedUntil <= this.#clock.now();
  }

  async leave(
    name: string,
    { concurrency }: HostLimit,
    holder: string,
    durationMs?: number,
    isFailure = false,
  ): Promise<void> {
    if (concurrency === 0) return;
    const host = this.#hosts.get(name);
    host.open.delete(holder);
    if (durationMs === undefined) return;
    const average = averageResponseMs(host.responseMs, durationMs, isFailure);
    if (average === undefined) return;
    host.responseMs = average;
    host.responseInterval = Math.ceil(average / concurrency);
  }

  async pause(name: string, ms: number, reason: string): Promise<void> {
    this.#hosts.pause(name, Math.round(ms), reason, this.#clock.now());
  }

  async slow(name: string, intervalMs: number, forMs: number): Promise<void> {
    this.#hosts.slow(name, Math.ceil(intervalMs), Math.round(forMs), this.#clock.now());
  }

  async hold(name: string, reason: string): Promise<Pause | undefined> {
    return this.#hosts.hold(name, reason, this.#clock.now());
  }

  async resume(name: string): Promise<Pause | undefined> {
    return this.#hosts.resume(name, this.#clock.now());
  }
}
