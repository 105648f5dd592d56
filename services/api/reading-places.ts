import type { ServerResponse } from 'node:http';
import { MINUTE_MS, SECOND_MS } from '../../shared/task/durations.ts';
import { Problem } from './http/problem.ts';

/** How often a client that may soon have a place is to ask. */
const ASK_AGAIN_MS = 5 * SECOND_MS;
/** A client that has taken nothing for this long of what waits for it is cut off. */
const STALLED_MS = 2 * MINUTE_MS;

type Answer = Pick<ServerResponse, 'closed' | 'destroy' | 'once' | 'socket' | 'writableNeedDrain'>;

/** Places for long answers. Each is free again when its answer is over, or nobody reads it any more. */
export class ReadingPlaces {
  readonly #most: number;
  readonly #stalledMs: number;
  #taken = 0;

  constructor(most: number, stalledMs = STALLED_MS) {
    this.#most = most;
    this.#stalledMs = stalledMs;
  }

  /** @throws Problem if there is none */
  take(answer: Answer): void {
    if (answer.closed) throw new Problem('timeout', 'whoever asked has left');
    if (this.#taken >= this.#most)
      throw new Problem('too_many_requests', `${this.#most} read records already`, { retryAfterMs: ASK_AGAIN_MS });
    this.#taken++;
    let before: number | undefined;
    const looks = setInterval(() => {
      const written = answer.writableNeedDrain ? answer.socket?.bytesWritten : undefined;
      if (written !== undefined && written === before) answer.destroy();
      before = written;
    }, this.#stalledMs).unref();
    answer.once('close', () => {
      clearInterval(looks);
      this.#taken--;
    });
  }
}
