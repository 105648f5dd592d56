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
import { inTenths } from '../../task/host/host-pace.ts';
import { PLACE_LEASE_MS } from '../policy.ts';
import type { ScriptName } from './script-text.ts';
import { type RedisStoreOptions, Scripts } from './scripts.ts';

/** The gate's scripts that run for every request, or for most. */
export const CALLED_EACH_REQUEST = ['gate', 'paused', 'sent_late', 'leave'] as const satisfies readonly ScriptName[];

/** The gate of a fleet: one script per question, on the hash that release reads too. */
export class RedisHostGate implements HostGate, HostLimits {
  readonly #scripts: Scripts;

  constructor({ redis, prefix, clock }: RedisStoreOptions) {
    this.#scripts = new Scripts({ redis, prefix, clock, joined: CALLED_EACH_REQUEST });
  }

  async ask(
    host: string,
    { intervalMs, concurrency }: HostLimit,
    holder: string,
    longestWaitMs = MAX_SLOT_WAIT_MS,
  ): Promise<Grant> {
    const reply = await this.#scripts.run(
      'gate',
      host,
      Math.ceil(intervalMs),
      concurrency,
      holder,
      MAX_SLOT_WAIT_MS,
      longestWaitMs,
      PLACE_LEASE_MS,
    );
    const [granted, inMs, because] = reply as [number, string, 'pace' | 'concurrency' | 'pause' | undefined];
    return { granted: granted === 1, inMs: Number(inMs), ...(because === undefined ? {} : { because }) };
  }

  async stillOpen(host: string): Promise<boolean> {
    return ((await this.#scripts.run('paused', host)) as number) === 0;
  }

  async leave(host: string, { concurrency }: HostLimit, holder: string, end?: RequestEnd): Promise<void> {
    if (concurrency === 0) return;
    const { durationMs, isFailure = false } = end ?? {};
    const took = durationMs === undefined ? '' : inTenths(durationMs);
    await this.#scripts.run('leave', host, holder, concurrency, took, isFailure ? 1 : 0);
  }

  async sentLate(host: string, { intervalMs }: HostLimit): Promise<void> {
    if (intervalMs > 0) await this.#scripts.run('sent_late', host, afterLateMs(intervalMs));
  }

  async pause(host: string, ms: number, reason: string): Promise<void> {
    if (Math.round(ms) > 0) await this.#scripts.run('pause_host', host, Math.round(ms), reason);
  }

  async slow(host: string, intervalMs: number, forMs: number): Promise<void> {
    await this.#scripts.run('slow', host, Math.ceil(intervalMs), Math.round(forMs));
  }

  async limit(host: string, intervalMs: number): Promise<number> {
    return Number(await this.#scripts.run('limit_host', host, Math.ceil(intervalMs)));
  }

  async pauseByHand(host: string, reason: string): Promise<Pause | undefined> {
    return readPause(await this.#scripts.run('pause_host', host, 'by_hand', reason));
  }

  async resume(host: string): Promise<Pause | undefined> {
    return readPause(await this.#scripts.run('pause_host', host, 'end', ''));
  }
}

function readPause(reply: unknown): Pause | undefined {
  const [ms, reason, byHand, isUnreachable] = reply as [string, string, number, number];
  if (ms === '0') return undefined;
  return { ms: Number(ms), reason, byHand: byHand === 1, ...(isUnreachable === 1 ? { isUnreachable: true } : {}) };
}
