import type { Delivery, Handling, Transport } from '../../shared/ports/transport.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { HOUR_MS } from '../../shared/task/durations.ts';

interface QueueTailOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Messages that wait here at once, beside those that are worked on. */
  readonly places: number;
}

/** How long a message with a place waits: a few of them cost nothing, and don't circulate. */
const WAITS_MS = 2_000;
/** Those without go on one after another, so far apart: waiting, they would use up the prefetch, and nothing else would come. */
const APART_MS = 5;
/** As long as a queue keeps a message that no worker takes. */
const LIVES_MS = HOUR_MS;

/**
 * Where messages go that this program can't work, and that have no place in the frontier: behind all others of their queue.
 * Returned, they would stay in front of the others.
 */
export class QueueTail {
  readonly #options: QueueTailOptions;
  #waiting = 0;
  #nextAt = 0;

  constructor(options: QueueTailOptions) {
    this.#options = options;
  }

  /** Resolves after a while, when the message is there; needs no worker slot meanwhile. */
  async put({ queue: to, id = '', body, headers }: Delivery): Promise<Handling> {
    const { transport, clock, log, signal } = this.#options;
    await this.#wait();
    if (signal.aborted) return 'return';
    const { 'x-first-seen': seen } = headers;
    const firstSeen = typeof seen === 'number' ? seen : clock.now();
    if (clock.now() - firstSeen > LIVES_MS) {
      log.warn({ what: id }, 'a message that no worker could process is dropped after an hour:');
      return 'ack';
    }
    const [outcome] = await transport.publish([{ to, id, body, headers: { ...headers, 'x-first-seen': firstSeen } }]);
    return outcome === 'confirmed' ? 'ack' : 'return';
  }

  async #wait(): Promise<void> {
    const { clock, signal, places } = this.#options;
    if (this.#waiting >= places) {
      const now = clock.now();
      const at = Math.max(now, this.#nextAt);
      this.#nextAt = at + APART_MS;
      return await clock.sleep(at - now, signal);
    }
    this.#waiting++;
    await clock.sleep(WAITS_MS, signal);
    this.#waiting--;
  }
}
