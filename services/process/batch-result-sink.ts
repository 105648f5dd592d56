import { BATCH_RUN, type BatchResults, MOST_RESULT_BYTES } from '../../shared/ports/batch-results.ts';
import type { PageRecord } from '../../shared/ports/record.ts';
import type { Sink } from '../../shared/ports/sink.ts';
import { beginning } from '../../shared/task/beginning.ts';

/** Returns the sink of a process. If its store keeps results of batches, they are kept for their readers before the task is settled. */
export function keepingResults(sink: Sink, { results }: { readonly results?: BatchResults }): Sink {
  if (results === undefined) return sink;
  return {
    put: async (record) => {
      const { run, task, release } = record;
      const keeping = BATCH_RUN.test(run) ? results.keep(run, task, release, resultJson(record)) : undefined;
      await Promise.all([sink.put(record), keeping]);
    },
    sync: async () => sink.sync?.(),
    start: () => sink.start(),
    stop: () => sink.stop(),
  };
}

/**
 * Returns a record as a result of at most {@link MOST_RESULT_BYTES}. If it is longer, its content is cut, and if that isn't enough, its
 * data are left out.
 */
export function resultJson(record: PageRecord): string {
  const json = JSON.stringify(record);
  if (record.outcome !== 'done' || Buffer.byteLength(json) <= MOST_RESULT_BYTES) return json;
  const { content = '' } = record;
  const truncated = [...new Set(record.truncated).add('content')];
  for (let length = Math.min(content.length, MOST_RESULT_BYTES); length > 1_000; length = Math.floor(length / 2)) {
    const cut = JSON.stringify({ ...record, content: beginning(content, length), truncated });
    if (Buffer.byteLength(cut) <= MOST_RESULT_BYTES) return cut;
  }
  return JSON.stringify({ ...record, content: '', data: null, redirects: undefined, truncated });
}
