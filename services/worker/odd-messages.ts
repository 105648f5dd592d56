import type { Clock } from '../../shared/clock.ts';
import { malformedLetterOf } from '../../shared/dead-letter.ts';
import { messageOf } from '../../shared/errors.ts';
import type { Frontier } from '../../shared/frontier.ts';
import { MAX_HOLD_MS } from '../../shared/host-gate.ts';
import type { Logger } from '../../shared/logger.ts';
import { runNamedBy } from '../../shared/task/task.ts';
import type { Delivery, Handling, Transport } from '../../shared/transport.ts';
import type { FailureLines } from './failure-lines.ts';

/** A newer program's task is let alone by the older ones for so long, each time that one of them gets it. */
const NEWER_WAITS_MS = 5_000;

interface OddMessagesOptions {
  readonly worker: string;
  readonly frontier: Frontier;
  readonly transport: Transport;
  /** Where messages that are no task are told of; left out where nobody is told. */
  readonly failures?: FailureLines;
  /** Records can't be stored: the worker had better stop consuming. */
  readonly onSinkFailure: (reason: string) => void;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** What becomes of deliveries that this program can't read as a task. */
export class OddMessages {
  readonly #options: OddMessagesOptions;

  constructor(options: OddMessagesOptions) {
    this.#options = options;
  }

  /** What is no task is buried as it came. */
  async bury({ id, body }: Delivery, problem: string): Promise<Handling> {
    const { transport, failures, log, onSinkFailure } = this.#options;
    try {
      await failures?.ofMessage({ id, body }, problem);
    } catch (error: unknown) {
      onSinkFailure(messageOf(error));
      return 'return';
    }
    const [outcome] = await transport.publish([malformedLetterOf(id, body, problem)]);
    log.warn({ error: problem }, 'a message that is no task: buried');
    return outcome === 'confirmed' ? 'ack' : 'return';
  }

  /**
   * A newer program's task waits again, at no attempt, and not to be released at once: a fleet in which only some workers
   * are new yet would hand it from one old worker to the next as fast as it can.
   */
  async putBackNewer({ id, headers }: Delivery, version: number): Promise<Handling> {
    const { frontier, worker, log } = this.#options;
    const run = runNamedBy(id);
    const release = headers['x-release'];
    log.warn({ version }, 'a message of a newer version: put back');
    if (run === undefined || release === undefined) return await this.#returnLater();
    const settled = await frontier.settle(run, release, { outcome: { kind: 'defer', inMs: NEWER_WAITS_MS } });
    if (settled === 'settled') return 'ack';
    // Stale, or of a run that the store has lost: then the message is all that there is of it.
    const { verdict } = await frontier.admit(run, release, worker);
    return verdict === 'unknown_run' ? await this.#returnLater() : 'ack';
  }

  /** Only here can it wait: returned, it comes again at once. */
  async #returnLater(): Promise<Handling> {
    await this.#options.clock.sleep(MAX_HOLD_MS, this.#options.signal);
    return 'return';
  }
}
