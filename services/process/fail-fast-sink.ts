import type { FetchedFile, FileStore } from '../../shared/ports/file-store.ts';
import type { PageRecord } from '../../shared/ports/record.ts';
import { RecordRefusedError, type Sink } from '../../shared/ports/sink.ts';

/**
 * A sink whose first failure, or that of the store of files beside it, aborts a signal. A fleet waits until its sink works again;
 * a crawl in one process ends, and says why.
 */
export class FailFastSink implements Sink {
  readonly files: FileStore;
  readonly #sink: Sink;
  readonly #failure = new AbortController();

  constructor(sink: Sink, files: FileStore) {
    this.#sink = sink;
    this.files = { put: (file: FetchedFile) => this.#watch(files.put(file)) };
  }

  get failure(): AbortSignal {
    return this.#failure.signal;
  }

  async put(record: PageRecord): Promise<void> {
    await this.#watch(this.#sink.put(record));
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

  async #watch<T>(storing: Promise<T>): Promise<T> {
    try {
      return await storing;
    } catch (error: unknown) {
      // The record's own fault: its page fails, and the others go on.
      if (!(error instanceof RecordRefusedError)) this.#failure.abort(error);
      throw error;
    }
  }
}
