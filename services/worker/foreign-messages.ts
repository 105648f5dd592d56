import { malformedLetterOf } from '../../shared/ports/dead-letter.ts';
import type { Frontier, Ledger } from '../../shared/ports/frontier/frontier.ts';
import type { Delivery, Handling, Transport } from '../../shared/ports/transport.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { ExpiringCache } from '../../shared/runtime/collections/expiring-cache.ts';
import { messageOf } from '../../shared/runtime/errors.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { placeById } from './delivered.ts';
import type { FailureLines } from './failure-lines.ts';

/** Time until a task that this worker can't handle is released again. */
const FOR_OTHERS_WAITS_MS = 5_000;
/** Minimum time between two reports of the same problem with messages for other programs. */
const TOLD_EVERY_MS = 60_000;

interface ForeignMessagesOptions {
  readonly worker: string;
  readonly frontier: Frontier & Ledger;
  readonly transport: Transport;
  /** Records messages that are not tasks. If left out, they are not recorded. */
  readonly failures?: FailureLines;
  /** Called when records can't be stored: the worker should stop consuming. */
  readonly onSinkFailure: (reason: string) => void;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Handles deliveries that this program can't read as a task, or can't process. */
export class ForeignMessages {
  readonly #options: ForeignMessagesOptions;
  readonly #told: ExpiringCache<true>;

  constructor(options: ForeignMessagesOptions) {
    this.#options = options;
    this.#told = new ExpiringCache({ clock: options.clock, max: 1_000 });
  }

  /**
   * Dead-letters a message that isn't a task, unchanged. If its id and release number name a task, that task fails too; otherwise it would
   * be released again.
   */
  async deadLetter(delivery: Delivery, problem: string): Promise<Handling> {
    const { frontier, transport, failures, log, onSinkFailure } = this.#options;
    const { id, body } = delivery;
    try {
      await failures?.ofMessage({ id, body }, problem);
    } catch (error: unknown) {
      onSinkFailure(messageOf(error));
      return 'return';
    }
    const [outcome] = await transport.publish([malformedLetterOf(id, body, problem)]);
    log.warn({ error: problem }, 'a message that is not a task: dead-lettered');
    if (outcome !== 'confirmed') return 'return';
    const place = await placeById(delivery, frontier);
    if (place !== undefined)
      await frontier.settle(place.run, place.release, {
        outcome: { kind: 'failed', reason: 'malformed', detail: problem },
      });
    return 'ack';
  }

  /**
   * Puts a task for newer programs back for a while, which costs it no attempt. Returned at once, it would bounce between the old workers
   * of a half-updated fleet. The result is `behind` if the task has no place in the frontier and must go to the end of its queue.
   */
  async leaveToOthers(delivery: Delivery, problem: string): Promise<'ack' | 'behind'> {
    const { frontier, worker, log } = this.#options;
    if (this.#told.get(problem) === undefined) {
      this.#told.keep(problem, true, TOLD_EVERY_MS);
      log.warn({ error: problem }, 'a message that this worker cannot process is left to others:');
    }
    const place = await placeById(delivery, frontier);
    if (place === undefined) return 'behind';
    const { run, release } = place;
    const settled = await frontier.settle(run, release, { outcome: { kind: 'defer', inMs: FOR_OTHERS_WAITS_MS } });
    if (settled === 'settled') return 'ack';
    // Either the release is stale, or the store has lost the run, and only this message is left of the task.
    const { verdict } = await frontier.admit(run, release, worker);
    return verdict === 'unknown_run' ? 'behind' : 'ack';
  }
}
