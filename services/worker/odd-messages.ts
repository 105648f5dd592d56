import type { Clock } from '../../shared/clock.ts';
import { malformedLetterOf } from '../../shared/dead-letter.ts';
import { messageOf } from '../../shared/errors.ts';
import { ExpiringMap } from '../../shared/expiring-map.ts';
import type { Frontier } from '../../shared/frontier.ts';
import { MAX_HOLD_MS } from '../../shared/host-gate.ts';
import type { Logger } from '../../shared/logger.ts';
import { runNamedBy } from '../../shared/task/task.ts';
import type { Delivery, Handling, Transport } from '../../shared/transport.ts';
import type { FailureLines } from './failure-lines.ts';

/** A task that is for other programs is let alone for so long, each time that one that can't work it gets it. */
const FOR_OTHERS_WAITS_MS = 5_000;
/** A whole queue of them is told of once in so long. */
const TOLD_EVERY_MS = 60_000;

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

/** What becomes of deliveries that this program can't read as a task, or can't work. */
export class OddMessages {
  readonly #options: OddMessagesOptions;
  readonly #told: ExpiringMap<true>;

  constructor(options: OddMessagesOptions) {
    this.#options = options;
    this.#told = new ExpiringMap({ clock: options.clock, maxEntries: 1_000, maxBytes: Number.POSITIVE_INFINITY });
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
   * What a newer program can work waits again, at no attempt, and not to be released at once: a fleet in which only some
   * workers are new yet would hand it from one old worker to the next as fast as it can.
   */
  async leaveToOthers({ id, headers }: Delivery, problem: string): Promise<Handling> {
    const { frontier, worker, log } = this.#options;
    const run = runNamedBy(id);
    const release = headers['x-release'];
    if (this.#told.get(problem) === undefined) {
      this.#told.set(problem, true, { ttlMs: TOLD_EVERY_MS, bytes: 0 });
      log.warn({ error: problem }, 'what this worker can not work is left to others:');
    }
    if (run === undefined || release === undefined) return await this.#returnLater();
    const settled = await frontier.settle(run, release, { outcome: { kind: 'defer', inMs: FOR_OTHERS_WAITS_MS } });
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
