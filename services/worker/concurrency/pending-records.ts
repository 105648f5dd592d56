import type { Sink } from '../../../shared/ports/sink.ts';

/** The records that a worker has handed to its sink and that are not stored yet. At most one per task in hand. */
export class PendingRecords {
  /** When each was handed over, by `performance.now()`; the oldest first. */
  readonly #since = new Set<{ readonly at: number }>();

  /** Milliseconds for which the oldest has waited; 0 if there is none. */
  get longestMs(): number {
    const [oldest] = this.#since;
    return oldest === undefined ? 0 : performance.now() - oldest.at;
  }

  /** The same sink, whose records are counted here until they are stored or refused. `onStored` is called after each that is stored. */
  countedBy(sink: Sink, onStored: () => void): Sink {
    return {
      put: async (record) => {
        const pending = { at: performance.now() };
        this.#since.add(pending);
        try {
          await sink.put(record);
          onStored();
        } finally {
          this.#since.delete(pending);
        }
      },
      sync: async () => sink.sync?.(),
      start: () => sink.start(),
      stop: () => sink.stop(),
    };
  }
}
