import { BATCH_RUN, type BatchResults, MOST_RESULT_BYTES } from '../../shared/ports/batch-results.ts';
import type { PageRecord } from '../../shared/ports/record.ts';
import type { Sink } from '../../shared/ports/sink.ts';

/** A sink that keeps the records of batches for whoever waits for them as well: before the task is settled. */
class BatchResultSink implements Sink {
  readonly #sink: Sink;
  readonly #results: BatchResults;

  constructor(sink: Sink, results: BatchResults) {
    this.#sink = sink;
    this.#results = results;
  }

  async put(record: PageRecord): Promise<void> {
    const keeping = BATCH_RUN.test(record.run)
      ? this.#results.keep(record.run, record.task, record.release, resultJson(record))
      : undefined;
    await Promise.all([this.#sink.put(record), keeping]);
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

/** The sink of a process, and the results of batches if its store keeps some. */
export function keepingResults(sink: Sink, { results }: { readonly results?: BatchResults }): Sink {
  return results === undefined ? sink : new BatchResultSink(sink, results);
}

/** A record as a result of at most {@link MOST_RESULT_BYTES}: of a longer one its content is cut, then its data left out. */
export function resultJson(record: PageRecord): string {
  const json = JSON.stringify(record);
  if (record.outcome !== 'done' || Buffer.byteLength(json) <= MOST_RESULT_BYTES) return json;
  const { content = '' } = record;
  const truncated = [...(record.truncated ?? []), 'content'];
  for (let length = Math.min(content.length, MOST_RESULT_BYTES); length > 1_000; length = Math.floor(length / 2)) {
    const cut = JSON.stringify({ ...record, content: content.slice(0, length), truncated });
    if (Buffer.byteLength(cut) <= MOST_RESULT_BYTES) return cut;
  }
  return JSON.stringify({ ...record, content: '', data: null, redirects: undefined, truncated });
}
