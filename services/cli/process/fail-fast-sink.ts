import type { PageRecord } from '../../../shared/ports/record.ts';
import type { Sink } from '../../../shared/ports/sink.ts';

/**
 * A sink whose first failure aborts a signal. A fleet waits until its sink works again; a crawl in one process ends, and
 * says why.
 */
export class FailFastSink implements Sink {
  readonly #sink: Sink;
  readonly #failure = new AbortController();

  constructor(sink: Sink) {
    this.#sink = sink;
  }

  get failure(): AbortSignal {
    return this.#failure.signal;
  }

  async put(record: PageRecord): Promise<void> {
    try {
      await this.#sink.put(record);
    } catch (error: unknown) {
      this.#failure.abort(error);
      throw error;
    }
  }

  async sync(): Promise<void> {
    await this.#sink.sync?.();
  }

  async start(): Promise<void> {
    await this.#sink.start();
  }

  async stop(): Promise<void> {
    await this.#sink.stop();
  }
}
