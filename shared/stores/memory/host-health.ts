import type { Settlement } from '../../ports/frontier.ts';
import {
  FAULTS_TO_OPEN,
  faultsText,
  type HostFault,
  openForMs,
  PROBE_ADMITTED_MS,
  PROBE_RELEASED_MS,
  withFault,
} from '../../task/host/breaker.ts';
import {
  ANSWERED_LATELY_MS,
  recoveredIntervalMs,
  slowedIntervalMs,
  throttlePauseMs,
} from '../../task/host/host-pace.ts';
import type { HostPause } from '../../task/task/outcome.ts';
import { type MemoryHost, paceOf, rateOf } from './hosts.ts';
import type { MemoryRun, MemoryStore } from './store.ts';

/** What settles say of a host, and who may try it: the memory form of `host.lua`. */
export class HostHealth {
  readonly #store: MemoryStore;
  readonly #name: string;
  readonly #host: MemoryHost;
  readonly #now: number;

  constructor(store: MemoryStore, name: string, now: number) {
    this.#store = store;
    this.#name = name;
    this.#host = store.hosts.get(name);
    this.#now = now;
  }

  /** What a request of this run said of it. */
  hear(run: MemoryRun, { hostAnswered, hostFault, slowDown }: Settlement): void {
    const host = this.#host;
    if (hostFault !== undefined) this.#countFault(hostFault);
    else if (host.failing !== undefined) this.#closeBreaker();
    const wasSlowed = host.slowMs > 0;
    if (slowDown !== undefined) this.#slowDown(run.options.intervalMs, slowDown);
    if (hostAnswered !== true) return;
    if (wasSlowed) this.#speedUp(run.options.intervalMs);
    if (host.throttles > 0) host.answeredAt = this.#now;
    host.throttles = 0;
  }

  /** It asked for a pause; without saying for how long, as long as it has said so before. A storm counts once. */
  pause({ pauseMs, reason }: HostPause): void {
    const host = this.#host;
    if (pauseMs === undefined && (host.pausedUntil <= this.#now || host.throttles === 0)) host.throttles++;
    const ms = pauseMs ?? throttlePauseMs(host.throttles);
    this.#store.hosts.pause(this.#name, Math.round(ms), reason, this.#now);
  }

  /** It said "slow down", and has answered others since, in the last hour. */
  get answersOthers(): boolean {
    const { answeredAt } = this.#host;
    return answeredAt > 0 && this.#now < answeredAt + ANSWERED_LATELY_MS;
  }

  /** Its breaker is open, or was: it is only tried. */
  get isTried(): boolean {
    return this.#host.opened > 0;
  }

  /** Until when another task than this one is waited for, which tries it; nothing if there is none. */
  triedUntil(own?: string): number | undefined {
    const { opened, probe, probeUntil } = this.#host;
    if (opened === 0 || probe === '' || probe === own) return undefined;
    // A clock that stepped back must not leave a host waiting for the old time.
    return this.#now < probeUntil && probeUntil <= this.#now + PROBE_ADMITTED_MS ? probeUntil : undefined;
  }

  /** This task is to try it. Returns until when it is waited for. */
  release(probe: string): number {
    this.#host.probe = probe;
    this.#host.probeUntil = this.#now + PROBE_RELEASED_MS;
    return this.#host.probeUntil;
  }

  /** This task tries it now. */
  admit(probe: string): void {
    this.#host.probe = probe;
    this.#host.probeUntil = this.#now + PROBE_ADMITTED_MS;
  }

  /** A task was given back without having asked it: if it was to try it, another may. */
  drop(probe: string): void {
    if (this.#host.probe !== probe) return;
    this.#host.probe = '';
    this.#store.wakeEverywhere(this.#name, this.#now);
  }

  #countFault(kind: HostFault): void {
    const host = this.#host;
    host.failing = withFault(host.failing, kind);
    if (host.failing.count < FAULTS_TO_OPEN || this.#now < host.openUntil) return;
    const ms = openForMs(host.opened, this.#now);
    host.opened++;
    host.openUntil = this.#now + ms;
    host.probe = '';
    this.#store.hosts.pause(this.#name, ms, faultsText(host.failing), this.#now);
    // For release to see until when, or that it has been in trouble for too long.
    this.#store.wakeEverywhere(this.#name, this.#now);
  }

  #closeBreaker(): void {
    const host = this.#host;
    const { opened, openUntil } = host;
    host.failing = undefined;
    host.opened = 0;
    host.openUntil = 0;
    host.probe = '';
    if (opened === 0) return;
    if (host.pausedUntil === openUntil) {
      host.pausedUntil = 0;
      host.reason = '';
    }
    this.#store.wakeEverywhere(this.#name, this.#now);
  }

  #slowDown(own: number, reason: string): void {
    const host = this.#host;
    if (host.slowMs > 0 && this.#now < Math.min(this.#now, host.slowSince) + host.slowMs) return;
    host.slowMs = slowedIntervalMs(paceOf(host, own, this.#now).intervalMs);
    host.slowSince = this.#now;
    host.slowReason = reason;
  }

  #speedUp(own: number): void {
    const host = this.#host;
    host.slowMs = recoveredIntervalMs(host.slowMs, rateOf(host, own, this.#now));
    if (host.slowMs === 0) host.slowReason = '';
  }
}

/** The name of a task that tries a host. */
export function probeOf(run: string, release: number | string): string {
  return `${run}|${release}`;
}
