import type { Clock } from '../../shared/runtime/clock.ts';
import { ExpiringCache } from '../../shared/runtime/collections/expiring-cache.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Outcome } from '../../shared/task/task/outcome.ts';
import type { Task } from '../../shared/task/task/task.ts';

interface OutcomeFields {
  readonly status?: number | undefined;
  readonly reason?: string | undefined;
  readonly error?: string | undefined;
  readonly ms?: number | undefined;
  readonly cached?: true | undefined;
}

/** Minimum time between two warnings about the same thing. */
const WARNED_EVERY_MS = 60_000;

/** Logs one line per page. */
export class OutcomeLog {
  readonly #log: Logger;
  /** Things logged as a warning recently. */
  readonly #warned: ExpiringCache<true>;

  constructor({ log, clock }: { readonly log: Logger; readonly clock: Clock }) {
    this.#log = log;
    this.#warned = new ExpiringCache({ clock, max: 1_000 });
  }

  tell(task: Task, outcome: Outcome['kind'], fields: OutcomeFields): void {
    const about = { run: task.run, ...fields, url: task.url };
    // A local crawl shows only warnings, and a problem of one page usually returns on the next.
    if (this.#isNews(task, fields)) this.#log.warn(about, outcome);
    else this.#log.info(about, outcome);
  }

  /** Returns whether this is the first recent page on which a crawler fails like this, or the first of a run with a refused address. */
  #isNews({ run }: Task, { reason, error }: OutcomeFields): boolean {
    const what = reason === 'step' ? error : reason === 'private_address' ? `private ${run}` : undefined;
    if (what === undefined || this.#warned.get(what) !== undefined) return false;
    this.#warned.keep(what, true, WARNED_EVERY_MS);
    return true;
  }
}
