import type { Frontier, Ledger, ReleaseName } from '../../shared/ports/frontier/frontier.ts';
import type { HandOvers } from '../../shared/ports/frontier/queued-leases.ts';
import type { Delivery, Transport } from '../../shared/ports/transport.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { messageOf } from '../../shared/runtime/errors.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { placeById, placeOf } from './delivered.ts';

/** Longest wait of a delivery for a slot. After that its task goes back to the frontier, for a worker that has one. */
export const START_WITHIN_MS = 2_000;
/** Pause before a message is published again. It comes back at once, so without the pause it would loop at full speed. */
const BEFORE_PUBLISHING_MS = 2_000;

interface UnackedOptions {
  readonly worker: string;
  readonly frontier: Frontier & HandOvers & Ledger;
  readonly transport: Transport;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/**
 * Deliveries consumed with automatic acknowledgement. The broker forgot them when it handed them over, so only this worker has them. While
 * they wait for a slot their leases are short, so that a crash delays them by a minute at most. Those that can't be started go back through
 * the frontier.
 */
export class Unacked {
  readonly #options: UnackedOptions;
  readonly #arrived = new Map<string, ReleaseName[]>();

  constructor(options: UnackedOptions) {
    this.#options = options;
  }

  /** Notes an arrival. All arrivals in one turn of the event loop share one call to the store. */
  arrived(delivery: Delivery): void {
    const known = placeOf(delivery);
    if (known === undefined) return;
    const releases = this.#arrived.get(known.run);
    if (releases !== undefined) releases.push(known.release);
    else if (this.#arrived.set(known.run, [known.release]).size === 1) setImmediate(() => void this.#shorten());
  }

  /** Puts back a delivery that was not begun or not finished. Never rejects: if it fails, the task returns when its lease lapses. */
  async putBack(delivery: Delivery): Promise<void> {
    const { frontier, worker, log } = this.#options;
    try {
      const known = placeOf(delivery) ?? (await placeById(delivery, frontier));
      if (known === undefined) return await this.#publishAgain(delivery);
      const { run, release } = known;
      if ((await frontier.settle(run, release, { outcome: { kind: 'defer' } })) === 'settled') return;
      // Either the release is stale, or the store has lost the run, and only this message is left of the task.
      const { verdict } = await frontier.admit(run, release, worker);
      if (verdict === 'unknown_run') await this.#publishAgain(delivery);
    } catch (error: unknown) {
      log.warn({ error: messageOf(error) }, 'a delivery could not be put back: it returns when its lease lapses');
    }
  }

  async #shorten(): Promise<void> {
    const { frontier, log } = this.#options;
    const arrived = [...this.#arrived];
    this.#arrived.clear();
    try {
      await Promise.all(arrived.map(([run, releases]) => frontier.handed(run, releases)));
    } catch (error: unknown) {
      log.warn({ error: messageOf(error) }, 'leases could not be shortened');
    }
  }

  async #publishAgain({ queue: to, id = '', body, headers }: Delivery): Promise<void> {
    const { transport, clock, log, signal } = this.#options;
    await clock.sleep(BEFORE_PUBLISHING_MS, signal);
    const [outcome] = await transport.publish([{ to, id, body, headers }]);
    if (outcome !== 'confirmed') log.error({ what: id }, 'a delivery without a ledger could not be put back:');
  }
}
