import type { ServiceEvents, ServiceName } from '../../shared/backends.ts';
import type { Clock } from '../../shared/clock.ts';
import type { Logger } from '../../shared/logger.ts';
import { duration } from './format.ts';

/** A service that stays away is told of again after so long. */
const REMIND_EVERY_MS = 30_000;

interface Outage {
  readonly since: number;
  saidAt: number;
}

/**
 * Says which services come and go: once when one is lost, now and then while it stays away, and once when it is back. Every
 * attempt in between is told here; nobody wants to read them all.
 */
export class Outages implements ServiceEvents {
  readonly #log: Logger;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #away = new Map<ServiceName, Outage>();

  constructor(log: Logger, clock: Pick<Clock, 'now'>) {
    this.#log = log;
    this.#clock = clock;
  }

  lost(what: ServiceName, error: string): void {
    const now = this.#clock.now();
    const outage = this.#away.get(what);
    if (outage === undefined) {
      this.#away.set(what, { since: now, saidAt: now });
      this.#log.warn({ what, error }, 'connection lost, trying again:');
    } else if (now - outage.saidAt >= REMIND_EVERY_MS) {
      outage.saidAt = now;
      this.#log.warn({ what, error }, `still away after ${duration(now - outage.since)}, trying again:`);
    }
  }

  restored(what: ServiceName): void {
    const outage = this.#away.get(what);
    this.#away.delete(what);
    const after = outage === undefined ? '' : ` after ${duration(this.#clock.now() - outage.since)}`;
    this.#log.warn({ what }, `connected again${after}:`);
  }
}
