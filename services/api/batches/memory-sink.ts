import { MOST_RESULTS_LENGTH } from '../../../shared/ports/batch-results.ts';
import type { PageRecord } from '../../../shared/ports/record.ts';
import type { Sink } from '../../../shared/ports/sink.ts';
import { resultJson } from '../../process/batch-result-sink.ts';

/** Keeps the records of a local batch in memory, by task. Records beyond a total size are dropped. */
export class MemorySink implements Sink {
  readonly records = new Map<string, PageRecord>();
  #length = 0;

  async put(record: PageRecord): Promise<void> {
    const json = resultJson(record);
    if (this.#length + json.length > MOST_RESULTS_LENGTH) return;
    this.#length += json.length;
    this.records.set(record.task, JSON.parse(json) as PageRecord);
  }

  async start(): Promise<void> {}

  async stop(): Promise<void> {}
}
