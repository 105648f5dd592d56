import type { FetchedFile, FileStore } from '../../shared/ports/file-store.ts';
import type { PageRecord } from '../../shared/ports/record.ts';
import { RecordRefusedError, type Sink } from '../../shared/ports/sink.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { StorageError } from '../../shared/runtime/errors.ts';

/** Time for which a server that takes records may be unreachable: a restarted Postgres is back in time. */
const PATIENCE_MS = 60_000;

/**
 * A sink that aborts a signal when it fails, or when the store of files beside it does. A fleet waits until its sink works again, but a
 * crawl in one process ends with the reason.
 *
 * | failure                         | ends the crawl                                                            |
 * |---------------------------------|---------------------------------------------------------------------------|
 * | a file, for example a full disk | at once                                                                   |
 * | an unreachable server           | when nothing has been stored for a minute, counted from the first failure |
 * | the record itself               | never: its page fails                                                     |
 */
export class FailFastSink implements Sink {
  readonly files: FileStore;
  readonly #sink: Sink;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #failure = new AbortController();
  /** Time of the first server failure since something was stored. */
  #failingSince: number | undefined;

  constructor(sink: Sink, files: FileStore, clock: Pick<Clock, 'monotonic'>) {
    this.#sink = sink;
    this.#clock = clock;
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
      const stored = await storing;
      this.#failingSince = undefined;
      return stored;
    } catch (error: unknown) {
      if (this.#isTheEnd(error)) this.#failure.abort(error);
      throw error;
    }
  }

  #isTheEnd(error: unknown): boolean {
    if (error instanceof RecordRefusedError) return false;
    if (error instanceof StorageError) return true;
    const now = this.#clock.monotonic();
    this.#failingSince ??= now;
    return now - this.#failingSince >= PATIENCE_MS;
  }
}
