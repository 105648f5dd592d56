import type { ServiceEvents, ServiceName } from '../../shared/backends/backends.ts';
import { duration } from '../../shared/control/format.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';

/** How long a service stays away before it is reported again. */
const REMIND_EVERY_MS = 30_000;

interface Outage {
  readonly since: number;
  saidAt: number;
  /** The reasons that were told since then. */
  readonly reasons: Set<string>;
}

/**
 * Says which services come and go: when one is lost, when an attempt fails for another reason than those before it, now and
 * then while it stays away, and when it is back. Every attempt in between is told here; nobody wants to read them all.
 */
export class Outages implements ServiceEvents {
  readonly #log: Logger;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #away = new Map<ServiceName, Outage>();

  constructor(log: Logger, clock: Pick<Clock, 'monotonic'>) {
    this.#log = log;
    this.#clock = clock;
  }

  lost(what: ServiceName, error: string): void {
    const now = this.#clock.monotonic();
    const outage = this.#away.get(what);
    if (outage === undefined) {
      this.#away.set(what, { since: now, saidAt: now, reasons: new Set([error]) });
      this.#log.warn({ what, error }, 'connection lost, trying again:');
      return;
    }
    const isReminder = now - outage.saidAt >= REMIND_EVERY_MS;
    if (isReminder) {
      outage.saidAt = now;
      outage.reasons.clear();
    } else if (outage.reasons.has(error)) {
      return;
    }
    outage.reasons.add(error);
    this.#log.warn({ what, error }, `still away after ${duration(now - outage.since)}, trying again:`);
  }

  restored(what: ServiceName): void {
    const outage = this.#away.get(what);
    this.#away.delete(what);
    const after = outage === undefined ? '' : ` after ${duration(this.#clock.monotonic() - outage.since)}`;
    this.#log.warn({ what }, `connected again${after}:`);
  }
}
