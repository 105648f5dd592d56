import type { PageRecord } from '../../shared/ports/record.ts';
import type { Sink } from '../../shared/ports/sink.ts';
import { Deque } from '../../shared/runtime/collections/deque.ts';

interface Waiting {
  readonly record: PageRecord;
  readonly taken: () => void;
}

/**
 * Hands records to a reader, one after the other. A record that has not been taken yet holds its task, so there are never more of them than
 * pages in hand, and a slow reader slows the crawl down.
 */
export class Handover implements Sink {
  readonly #waiting = new Deque<Waiting>();
  #asked: ((record: PageRecord | undefined) => void) | undefined;
  #isOver = false;

  /** Resolves once the record is taken, or can't be taken any more. */
  put(record: PageRecord): Promise<void> {
    if (this.#isOver) return Promise.resolve();
    const asked = this.#asked;
    if (asked === undefined) return new Promise((taken) => this.#waiting.push({ record, taken }));
    this.#asked = undefined;
    asked(record);
    return Promise.resolve();
  }

  /** Returns the next record when there is one, or nothing if no more will come. Call it again only when it has resolved. */
  next(): Promise<PageRecord | undefined> {
    const [first] = this.#waiting.take(1);
    first?.taken();
    if (first !== undefined || this.#isOver) return Promise.resolve(first?.record);
    return new Promise((resolve) => {
      this.#asked = resolve;
    });
  }

  /** Ends the handover: waiting records are dropped, and none is taken any more. */
  close(): void {
    this.#isOver = true;
    for (const { taken } of this.#waiting.take(this.#waiting.length)) taken();
    this.#asked?.(undefined);
    this.#asked = undefined;
  }

  async start(): Promise<void> {}

  async stop(): Promise<void> {}
}
