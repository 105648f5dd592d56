import type { Delivery, Handling, Transport } from '../../shared/ports/transport.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { HOUR_MS } from '../../shared/task/durations.ts';

interface QueueTailOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Number of messages that can wait here at once, besides those being worked on. */
  readonly places: number;
}

/** Wait of a message that got a place. A few waiting messages cost nothing, and don't circulate meanwhile. */
const WAITS_MS = 2_000;
/** Interval between messages that got no place. If they waited longer, they would use up the prefetch and block all others. */
const APART_MS = 5;
/** Time after which such a message is dropped, as a queue drops one that no worker takes. */
const LIVES_MS = HOUR_MS;

/**
 * Moves messages that this program can't process and that have no place in the frontier to the end of their queue. If they
 * were returned instead, they would stay at its front.
 */
export class QueueTail {
  readonly #options: QueueTailOptions;
  #waiting = 0;
  #nextAt = 0;

  constructor(options: QueueTailOptions) {
    this.#options = options;
  }

  /** Resolves after a while, when the message is at the end of its queue. Call it without holding a worker slot. */
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
      const now = clock.monotonic();
      const at = Math.max(now, this.#nextAt);
      this.#nextAt = at + APART_MS;
      return await clock.sleep(at - now, signal);
    }
    this.#waiting++;
    await clock.sleep(WAITS_MS, signal);
    this.#waiting--;
  }
}
