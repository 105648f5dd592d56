import type { ServerResponse } from 'node:http';
import { MINUTE_MS, SECOND_MS } from '../../shared/task/durations.ts';
import { Problem } from './http/problem.ts';

/** Time after which a refused client should ask again. */
const ASK_AGAIN_MS = 5 * SECOND_MS;
/** A client that has data waiting and reads nothing for this long is cut off. */
const STALLED_MS = 2 * MINUTE_MS;

type Answer = Pick<ServerResponse, 'closed' | 'destroy' | 'once' | 'socket' | 'writableNeedDrain'>;

/** Limits how many long answers are sent at once. A place is freed when its answer ends or its client stops reading. */
export class ReadingPlaces {
  readonly #most: number;
  readonly #stalledMs: number;
  #taken = 0;

  constructor(most: number, stalledMs = STALLED_MS) {
    this.#most = most;
    this.#stalledMs = stalledMs;
  }

  /** @throws Problem if no place is free, or the client has gone */
  take(answer: Answer): void {
    if (answer.closed) throw new Problem('timeout', 'the client has hung up');
    if (this.#taken >= this.#most)
      throw new Problem('too_many_requests', `${this.#most} clients are reading records already`, {
        retryAfterMs: ASK_AGAIN_MS,
      });
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
