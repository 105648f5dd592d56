import type { ServiceEvents, ServiceName } from '../../shared/backends/backends.ts';
import { duration } from '../../shared/control/format.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';

/** Minimum time between two reports of the same outage. */
const REMIND_EVERY_MS = 30_000;

interface Outage {
  readonly since: number;
  saidAt: number;
  /** The reasons reported since then. */
  readonly reasons: Set<string>;
}

/**
 * Logs when services come and go: when one is lost, when an attempt fails for a new reason, at intervals while it stays unreachable, and
 * when it is back. It is told of every attempt in between, of which there are too many to log.
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
    this.#log.warn({ what, error }, `still unreachable after ${duration(now - outage.since)}, trying again:`);
  }

  restored(what: ServiceName): void {
    const outage = this.#away.get(what);
    this.#away.delete(what);
    const after = outage === undefined ? '' : ` after ${duration(this.#clock.monotonic() - outage.since)}`;
    this.#log.warn({ what }, `connected again${after}:`);
  }
}
