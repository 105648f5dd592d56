import type { Frontier } from '../ports/frontier/frontier.ts';
import type { FullStore } from '../ports/frontier/full-store.ts';
import type { Clock } from '../runtime/clock.ts';
import { messageOf } from '../runtime/errors.ts';
import type { Service } from '../runtime/lifecycle.ts';
import type { Logger } from '../runtime/logger.ts';

/** Average time between two rounds. */
const ROUND_EVERY_MS = 5_000;

interface JanitorOptions {
  readonly frontier: Frontier & Partial<FullStore>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Deletes runs that ended long ago and returns how many. Left out if the store deletes them itself. */
  readonly sweep?: () => Promise<number>;
  /** Puts back tasks whose deliveries are lost and returns how many. Left out if no delivery can be lost, or if others do it. */
  readonly putBackLost?: () => Promise<number>;
  /** Returns a number in [0, 1), to spread the rounds of many workers. */
  readonly random?: () => number;
}

/**
 * Cleans up every few seconds: puts back tasks whose lease has lapsed or whose delivery is lost, drains cancelled runs, pauses runs that a
 * full store keeps from ending any task, deletes old runs. Safe to run in every process at once.
 */
export class Janitor implements Service {
  readonly #options: JanitorOptions;
  readonly #stopping = new AbortController();
  #loop: Promise<void> | undefined;

  constructor(options: JanitorOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    this.#loop ??= this.#run();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#loop;
  }

  async #run(): Promise<void> {
    const { clock, log, random = Math.random } = this.#options;
    while (!this.#stopping.signal.aborted) {
      try {
        await this.#round();
      } catch (error: unknown) {
        log.warn({ error: messageOf(error) }, 'cleanup failed, trying again');
      }
      await clock.sleep(ROUND_EVERY_MS * (0.5 + random()), this.#stopping.signal);
    }
  }

  async #round(): Promise<void> {
    const { frontier, log, sweep, putBackLost } = this.#options;
    const lapsed = await this.#untilNone(() => frontier.reap());
    if (lapsed > 0) log.info({ tasks: lapsed }, 'leases lapsed: tasks put back');
    await this.#untilNone(() => frontier.drain());
    for (const { run, reason } of (await frontier.pauseStuck?.()) ?? [])
      log.error({ run, reason }, 'run paused, since none of its tasks can end');
    if (sweep !== undefined) await this.#untilNone(sweep);
    const lost = (await putBackLost?.()) ?? 0;
    if (lost > 0) log.warn({ tasks: lost }, 'deliveries lost: tasks put back');
  }

  async #untilNone(step: () => Promise<number>): Promise<number> {
    let total = 0;
    while (!this.#stopping.signal.aborted) {
      const moved = await step();
      total += moved;
      if (moved === 0) break;
    }
    return total;
  }
}
