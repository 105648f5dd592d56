import type { Settlement } from '../../../ports/frontier/frontier.ts';
import {
  FAULTS_TO_OPEN,
  faultsText,
  type HostFault,
  openForMs,
  PAGE_FAULT,
  PROBE_ADMITTED_MS,
  PROBE_RELEASED_MS,
  spreadMs,
  withFault,
} from '../../../task/host/breaker.ts';
import {
  ANSWERED_LATELY_MS,
  recoveredIntervalMs,
  slowedIntervalMs,
  throttlePauseMs,
} from '../../../task/host/host-pace.ts';
import { SILENT_PAUSE_MS } from '../../../task/host/host-trouble.ts';
import type { HostPause } from '../../../task/task/outcome.ts';
import type { Moves } from './moves.ts';
import { faultsOf, type HostRow, paceOf, pauseHost, rateOf } from './rows/host-rows.ts';

/** The health of a host, as settled requests show it, and the task that may try it alone. */
export class HostHealth {
  readonly #moves: Moves;
  readonly #host: HostRow;

  constructor(moves: Moves, name: string) {
    this.#moves = moves;
    this.#host = moves.host(name);
  }

  /**
   * Updates the host's breaker and pace after a request. `intervalMs` is the run's own interval; `isSilent`: the host has never
   * answered the run; `isAgain`: the page has failed before.
   */
  hear(
    intervalMs: number,
    { hostAnswered, hostFault, slowDown }: Omit<Settlement, 'outcome'>,
    { isSilent = false, isAgain = false } = {},
  ): void {
    const host = this.#host;
    const isOfPage = hostFault === PAGE_FAULT && isAgain && !this.isTried;
    if (isOfPage) {
      // The page's own fault; if it is the host's, other pages will show it.
    } else if (hostFault !== undefined) this.#countFault(hostFault, isSilent);
    else if (host.failing !== null) this.#closeBreaker();
    const wasSlowed = host.slowMs > 0;
    if (slowDown !== undefined) this.#slowDown(intervalMs, slowDown);
    if (hostAnswered !== true) return;
    if (wasSlowed) this.#speedUp(intervalMs);
    if (host.throttles > 0) host.answeredAt = this.#moves.now;
    host.throttles = 0;
  }

  /** The host asked for a pause. Without a duration, the pause grows each time until the next healthy answer; repeats during it count once. */
  pause({ pauseMs, reason }: HostPause): void {
    const host = this.#host;
    const { now } = this.#moves;
    if (pauseMs === undefined && (host.pausedUntil <= now || host.throttles === 0)) host.throttles++;
    pauseHost(host, Math.round(pauseMs ?? throttlePauseMs(host.throttles)), reason, now);
  }

  /** Whether the host said "slow down" and has answered other tasks since, within the last hour. */
  get answersOthers(): boolean {
    const { answeredAt } = this.#host;
    return answeredAt > 0 && this.#moves.now < answeredAt + ANSWERED_LATELY_MS;
  }

  /** Whether its breaker has opened and not closed yet: one task at a time tries the host. */
  get isTried(): boolean {
    return this.#host.opened > 0;
  }

  /** Returns until when the result of another task that tries the host is awaited; undefined if there is none. */
  triedUntil(own?: string): number | undefined {
    const { opened, probe, probeUntil } = this.#host;
    const { now } = this.#moves;
    if (opened === 0 || probe === '' || probe === own) return undefined;
    // A clock that stepped back must not leave a host waiting for the old time.
    return now < probeUntil && probeUntil <= now + PROBE_ADMITTED_MS ? probeUntil : undefined;
  }

  /** Chooses the task that is to try the host. Returns until when its result is awaited. */
  release(probe: string): number {
    this.#host.probe = probe;
    this.#host.probeUntil = this.#moves.now + PROBE_RELEASED_MS;
    return this.#host.probeUntil;
  }

  /** Records that this task tries the host now. */
  admit(probe: string): void {
    this.#host.probe = probe;
    this.#host.probeUntil = this.#moves.now + PROBE_ADMITTED_MS;
  }

  /** Lets another task try the host if this one was to, and was given back before the host was asked. */
  drop(probe: string): void {
    if (this.#host.probe !== probe) return;
    this.#host.probe = '';
    this.#moves.wakeEverywhere(this.#host.host);
  }

  #countFault(kind: HostFault, isSilent: boolean): void {
    const host = this.#host;
    const { now } = this.#moves;
    const faults = withFault(faultsOf(host), kind);
    host.failing = JSON.stringify(faults);
    if (faults.count < FAULTS_TO_OPEN || now < host.openUntil) return;
    const ms = isSilent ? spreadMs(SILENT_PAUSE_MS, now) : openForMs(host.opened, now);
    host.opened = isSilent ? Math.max(1, host.opened) : host.opened + 1;
    host.openUntil = now + ms;
    host.probe = '';
    pauseHost(host, ms, faultsText(faults), now);
    // So that release sees when the pause ends, or that the host has been in trouble for too long.
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

/** Returns the name of a task that tries a host. */
export function probeOf(run: string, release: number): string {
  return `${run}|${release}`;
}
