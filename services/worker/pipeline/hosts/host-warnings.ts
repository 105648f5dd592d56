import type { Clock } from '../../../../shared/runtime/clock.ts';
import { ExpiringCache } from '../../../../shared/runtime/collections/expiring-cache.ts';
import type { Logger } from '../../../../shared/runtime/logger.ts';
import { HOUR_MS, MINUTE_MS } from '../../../../shared/task/durations.ts';

/** Minimum time between two warnings about one host. */
const EACH_EVERY_MS = HOUR_MS;
/** Maximum warnings in a minute, over all hosts. */
const MOST_A_MINUTE = 10;
const MOST_REMEMBERED = 10_000;

/**
 * Logs warnings about hosts, few enough to be read even if a crawl has thousands of bad ones: at most one an hour for each host, and ten a
 * minute for all. Further warnings are logged as information, and the next warning gives the number of those that exceeded the ten.
 */
export class HostWarnings {
  readonly #log: Logger;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #warned: ExpiringCache<true>;
  #minute = { begunAt: Number.NEGATIVE_INFINITY, warnings: 0 };
  #others = 0;

  constructor({ log, clock }: { readonly log: Logger; readonly clock: Pick<Clock, 'monotonic'> }) {
    this.#log = log;
    this.#clock = clock;
    this.#warned = new ExpiringCache({ clock, max: MOST_REMEMBERED });
  }

  tell(host: string, fields: object, message: string): void {
    const about = { what: host, ...fields };
    const isKnown = this.#warned.get(host) === true;
    if (isKnown || !this.#hasRoom()) {
      if (!isKnown) this.#others++;
      this.#log.info(about, message);
      return;
    }
    this.#warned.keep(host, true, EACH_EVERY_MS);
    this.#log.warn(this.#others === 0 ? about : { ...about, others: this.#others }, message);
    this.#others = 0;
  }

  #hasRoom(): boolean {
    const now = this.#clock.monotonic();
    if (now - this.#minute.begunAt >= MINUTE_MS) this.#minute = { begunAt: now, warnings: 0 };
    return this.#minute.warnings++ < MOST_A_MINUTE;
  }
}
