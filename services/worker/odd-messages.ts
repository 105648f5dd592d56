import { malformedLetterOf } from '../../shared/ports/dead-letter.ts';
import type { Frontier, Ledger } from '../../shared/ports/frontier.ts';
import type { Delivery, Handling, Transport } from '../../shared/ports/transport.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { messageOf } from '../../shared/runtime/errors.ts';
import { ExpiringCache } from '../../shared/runtime/expiring-cache.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { placeById } from './delivered.ts';
import type { FailureLines } from './failure-lines.ts';

/** A task that is for other programs is let alone for so long, each time that one that can't work it gets it. */
const FOR_OTHERS_WAITS_MS = 5_000;
/** A whole queue of them is told of once in so long. */
const TOLD_EVERY_MS = 60_000;

interface OddMessagesOptions {
  readonly worker: string;
  readonly frontier: Frontier & Ledger;
  readonly transport: Transport;
  /** Where messages that are no task are told of; left out where nobody is told. */
  readonly failures?: FailureLines;
  /** Records can't be stored: the worker had better stop consuming. */
  readonly onSinkFailure: (reason: string) => void;
  readonly clock: Clock;
  readonly log: Logger;
}

/** What becomes of deliveries that this program can't read as a task, or can't work. */
export class OddMessages {
  readonly #options: OddMessagesOptions;
  readonly #told: ExpiringCache<true>;

  constructor(options: OddMessagesOptions) {
    this.#options = options;
    this.#told = new ExpiringCache({ clock: options.clock, max: 1_000 });
  }

  /** What is no task is buried as it came. If it is of one nevertheless, by its id and number, that is over: it would come again. */
  async bury(delivery: Delivery, problem: string): Promise<Handling> {
    const { frontier, transport, failures, log, onSinkFailure } = this.#options;
    const { id, body } = delivery;
    try {
      await failures?.ofMessage({ id, body }, problem);
    } catch (error: unknown) {
      onSinkFailure(messageOf(error));
      return 'return';
    }
    const [outcome] = await transport.publish([malformedLetterOf(id, body, problem)]);
    log.warn({ error: problem }, 'a message that is no task: buried');
    if (outcome !== 'confirmed') return 'return';
    const place = await placeById(delivery, frontier);
    if (place !== undefined)
      await frontier.settle(place.run, place.release, {
        outcome: { kind: 'failed', reason: 'malformed', detail: problem },
      });
    return 'ack';
  }

  /**
   * What a newer program can work waits again, at no attempt, and not to be released at once: a fleet in which only some
   * workers are new yet would hand it from one old worker to the next as fast as it can. `behind`: it has no place in the
   * frontier, and belongs behind the others of its queue.
   */
  async leaveToOthers(delivery: Delivery, problem: string): Promise<'ack' | 'behind'> {
    const { frontier, worker, log } = this.#options;
    if (this.#told.get(problem) === undefined) {
      this.#told.keep(problem, true, TOLD_EVERY_MS);
      log.warn({ error: problem }, 'what this worker can not work is left to others:');
    }
    const place = await placeById(delivery, frontier);
    if (place === undefined) return 'behind';
    const { run, release } = place;
    const settled = await frontier.settle(run, release, { outcome: { kind: 'defer', inMs: FOR_OTHERS_WAITS_MS } });
    if (settled === 'settled') return 'ack';
    // Stale, or of a run that the store has lost: then the message is all that there is of it.
    const { verdict } = await frontier.admit(run, release, worker);
    return verdict === 'unknown_run' ? 'behind' : 'ack';
  }
}
