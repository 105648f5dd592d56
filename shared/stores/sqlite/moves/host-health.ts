import type { Settlement } from '../../../ports/frontier.ts';
import {
  FAULTS_TO_OPEN,
  faultsText,
  type HostFault,
  openForMs,
  PROBE_ADMITTED_MS,
  PROBE_RELEASED_MS,
  withFault,
} from '../../../task/host/breaker.ts';
import {
  ANSWERED_LATELY_MS,
  recoveredIntervalMs,
  slowedIntervalMs,
  throttlePauseMs,
} from '../../../task/host/host-pace.ts';
import type { HostPause } from '../../../task/task/outcome.ts';
import { faultsOf, type HostRow, paceOf, pauseHost, rateOf } from './host-rows.ts';
import type { Moves } from './moves.ts';

/** What settles say of a host, and who may try it. */
export class HostHealth {
  readonly #moves: Moves;
  readonly #host: HostRow;

  constructor(moves: Moves, name: string) {
    this.#moves = moves;
    this.#host = moves.host(name);
  }

  /** What a request of a run with this interval said of it. */
  hear(intervalMs: number, { hostAnswered, hostFault, slowDown }: Omit<Settlement, 'outcome'>): void {
    const host = this.#host;
    if (hostFault !== undefined) this.#countFault(hostFault);
    else if (host.failing !== null) this.#closeBreaker();
    const wasSlowed = host.slowMs > 0;
    if (slowDown !== undefined) this.#slowDown(intervalMs, slowDown);
    if (hostAnswered !== true) return;
    if (wasSlowed) this.#speedUp(intervalMs);
    if (host.throttles > 0) host.answeredAt = this.#moves.now;
    host.throttles = 0;
  }

  /** It asked for a pause; without saying for how long, as long as it has said so before. A storm counts once. */
  pause({ pauseMs, reason }: HostPause): void {
    const host = this.#host;
    const { now } = this.#moves;
    if (pauseMs === undefined && (host.pausedUntil <= now || host.throttles === 0)) host.throttles++;
    pauseHost(host, Math.round(pauseMs ?? throttlePauseMs(host.throttles)), reason, now);
  }

  /** It said "slow down", and has answered others since, in the last hour. */
  get answersOthers(): boolean {
    const { answeredAt } = this.#host;
    return answeredAt > 0 && this.#moves.now < answeredAt + ANSWERED_LATELY_MS;
  }

  /** Its breaker is open, or was: it is only tried. */
  get isTried(): boolean {
    return this.#host.opened > 0;
  }

  /** Until when another task than this one is waited for, which tries it; nothing if there is none. */
  triedUntil(own?: string): number | undefined {
    const { opened, probe, probeUntil } = this.#host;
    const { now } = this.#moves;
    if (opened === 0 || probe === '' || probe === own) return undefined;
    // A clock that stepped back must not leave a host waiting for the old time.
    return now < probeUntil && probeUntil <= now + PROBE_ADMITTED_MS ? probeUntil : undefined;
  }

  /** This task is to try it. Returns until when it is waited for. */
  release(probe: string): number {
    this.#host.probe = probe;
    this.#host.probeUntil = this.#moves.now + PROBE_RELEASED_MS;
    return this.#host.probeUntil;
  }

  /** This task tries it now. */
  admit(probe: string): void {
    this.#host.probe = probe;
    this.#host.probeUntil = this.#moves.now + PROBE_ADMITTED_MS;
  }

  /** A task was given back without having asked it: if it was to try it, another may. */
  drop(probe: string): void {
    if (this.#host.probe !== probe) return;
    this.#host.probe = '';
    this.#moves.wakeEverywhere(this.#host.host);
  }

  #countFault(kind: HostFault): void {
    const host = this.#host;
    const { now } = this.#moves;
    const faults = withFault(faultsOf(host), kind);
    host.failing = JSON.stringify(faults);
    if (faults.count < FAULTS_TO_OPEN || now < host.openUntil) return;
    const ms = openForMs(host.opened, now);
    host.opened++;
    host.openUntil = now + ms;
    host.probe = '';
    pauseHost(host, ms, faultsText(faults), now);
    // For release to see until when, or that it has been in trouble for too long.
    this.#moves.wakeEverywhere(host.host);
  }

  #closeBreaker(): void {
    const host = this.#host;
    const { opened, openUntil } = host;
    host.failing = null;
    host.opened = 0;
    host.openUntil = 0;
    host.probe = '';
    if (opened === 0) return;
    if (host.pausedUntil === openUntil) {
      host.pausedUntil = 0;
      host.reason = '';
    }
    this.#moves.wakeEverywhere(host.host);
  }

  #slowDown(own: number, reason: string): void {
    const host = this.#host;
    const { now } = this.#moves;
    if (host.slowMs > 0 && now < Math.min(now, host.slowSince) + host.slowMs) return;
    host.slowMs = slowedIntervalMs(paceOf(host, own, now).intervalMs);
    host.slowSince = now;
    host.slowReason = reason;
  }

  #speedUp(own: number): void {
    const host = this.#host;
    host.slowMs = recoveredIntervalMs(host.slowMs, rateOf(host, own, this.#moves.now));
    if (host.slowMs === 0) host.slowReason = '';
  }
}

/** The name of a task that tries a host. */
export function probeOf(run: string, release: number): string {
  return `${run}|${release}`;
}
