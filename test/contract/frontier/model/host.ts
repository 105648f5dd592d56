import { expect } from 'vitest';
import type { Settlement } from '../../../../shared/ports/frontier/frontier.ts';

/** The task that probes a host whose breaker is open. */
interface Probe {
  readonly run: string;
  readonly release: number;
  readonly until: number;
}

/** A host of the model: its pauses, breaker and slow-down. */
export class ModelHost {
  pausedUntil = 0;
  /** Errors in a row. */
  #faults = 0;
  /** How many times in a row its breaker opened. */
  #opened = 0;
  #openUntil = 0;
  #probe: Probe | undefined;
  #slowMs = 0;
  #slowSince = 0;
  #slowedLately = 0;
  #throttles = 0;

  isPaused(now: number): boolean {
    return this.pausedUntil > now;
  }

  /** Whether its breaker has opened and no answer has closed it yet. */
  get isTried(): boolean {
    return this.#opened > 0;
  }

  /** Whether it is slowed, or was a moment ago, so that its next look was scheduled while it was. */
  isSlowed(now: number): boolean {
    return this.#slowMs > 0 || now < this.#slowedLately;
  }

  /** Whether another release is probing it now. */
  isTriedByOther(run: string, release: number, now: number): boolean {
    const probe = this.#probe;
    if (!this.isTried || probe === undefined || probe.until <= now) return false;
    return probe.run !== run || probe.release !== release;
  }

  /** Notes that one of its tasks is released. */
  released(run: string, release: number, now: number): void {
    if (!this.isTried) return;
    expect(this.isTriedByOther(run, release, now), 'one task at a time tries a host').toBe(false);
    this.#probe = { run, release, until: now + 60_000 };
  }

  admitted(run: string, release: number, now: number): void {
    if (this.isTried) this.#probe = { run, release, until: now + 120_000 };
  }

  /** Pauses it, unless a longer pause is in force. */
  pause(ms: number, now: number): void {
    this.pausedUntil = Math.max(this.pausedUntil, now + ms);
  }

  /** Ends its pause by hand and forgets its past. Returns whether it was paused. */
  resume(now: number): boolean {
    const was = this.isPaused(now);
    this.pausedUntil = 0;
    if (!was) return false;
    if (this.#slowMs > 0) this.#slowedLately = now + 60_000;
    this.#faults = 0;
    this.#opened = 0;
    this.#openUntil = 0;
    this.#probe = undefined;
    this.#slowMs = 0;
    this.#slowSince = 0;
    this.#throttles = 0;
    return true;
  }

  /** Ends the pause of its breaker, since a run starts while no other is open. */
  tryAgain(now: number): void {
    if (!this.isTried || !this.isPaused(now) || this.pausedUntil !== this.#openUntil) return;
    this.pausedUntil = 0;
    this.#openUntil = 0;
    this.#probe = undefined;
  }

  /** Ends the probe of a task that is put back before it asked the host. */
  givenBack(run: string, release: number): void {
    if (this.#probe?.run === run && this.#probe.release === release) this.#probe = undefined;
  }

  /** Applies a settlement. `isSilent`: it has never answered the run. `isAgain`: the page has failed before. */
  settled(
    run: { readonly id: string; readonly intervalMs: number },
    release: number,
    settlement: Settlement,
    { isSilent = false, isAgain = false },
    now: number,
  ): void {
    const { hostAnswered, hostFault, hostTrouble, slowDown, outcome } = settlement;
    const { id, intervalMs } = run;
    const saysNothing = hostAnswered === undefined || hostTrouble?.kind === 'outage';
    if (saysNothing) this.givenBack(id, release);
    else if (hostFault === 'answers of 500' && isAgain && !this.isTried) {
      // The fault may be the page's own.
    } else if (hostFault !== undefined) this.#fail(isSilent, now);
    else this.#answer();
    if (!saysNothing && slowDown !== undefined && now >= this.#slowSince + this.#slowMs) {
      this.#slowMs = Math.min(60_000, Math.max(1_000, 2 * Math.max(this.#slowMs, intervalMs)));
      this.#slowSince = now;
    } else if (hostAnswered === true && this.#slowMs > 0) {
      this.#slowedLately = now + 1_000;
      this.#slowMs = Math.floor(this.#slowMs * 0.75);
      if (this.#slowMs < 500 || this.#slowMs <= intervalMs) this.#slowMs = 0;
    }
    if (hostAnswered === true) this.#throttles = 0;
    if (hostTrouble?.pauseMs !== undefined && !isSilent) this.#pause(hostTrouble.pauseMs, now);
    if (outcome.kind === 'defer' && outcome.host !== undefined) this.#pause(outcome.host.pauseMs, now);
  }

  #pause(asked: number | undefined, now: number): void {
    if (asked === undefined && (!this.isPaused(now) || this.#throttles === 0)) this.#throttles++;
    const ms = asked ?? Math.min(900_000, 15_000 * 2 ** (this.#throttles - 1));
    this.pausedUntil = Math.max(this.pausedUntil, now + ms);
  }

  #fail(isSilent: boolean, now: number): void {
    this.#faults++;
    if (this.#faults < 5 || now < this.#openUntil) return;
    const ms = isSilent ? 15_000 : Math.min(3_600_000, 60_000 * 2 ** this.#opened);
    this.#openUntil = now + Math.min(3_600_000, Math.floor(ms + (ms / 5) * ((now % 1_000) / 1_000)));
    this.#opened = isSilent ? Math.max(1, this.#opened) : this.#opened + 1;
    this.#probe = undefined;
    this.pausedUntil = Math.max(this.pausedUntil, this.#openUntil);
  }

  #answer(): void {
    if (this.isTried && this.pausedUntil === this.#openUntil) this.pausedUntil = 0;
    this.#faults = 0;
    this.#opened = 0;
    this.#openUntil = 0;
    this.#probe = undefined;
  }
}
