import type { CrawlMeasures } from '../../../shared/metrics/process-metrics.ts';
import type { PageRecord } from '../../../shared/ports/record.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import { EmbeddedFleet } from '../../process/embedded-fleet.ts';
import { stoppingBy } from '../../process/stopping.ts';
import type { Seed } from '../../producer/seeds.ts';
import type { ReadRequest } from '../http/read-request.ts';
import type { BatchInput } from './batch-request.ts';
import { MemorySink } from './memory-sink.ts';

interface LocalBatchOptions {
  readonly read: ReadRequest;
  readonly inputs: readonly BatchInput[];
  readonly measures: CrawlMeasures;
  readonly log: Logger;
  readonly clock: Clock;
}

/** Grace period for pages in hand when a batch is stopped. */
const GRACE_MS = 2_000;

/** A batch crawled by this process, with a store in memory. Address guard, robots.txt and pace apply as in any crawl. */
export class LocalBatch {
  readonly #options: LocalBatchOptions;
  readonly #sink = new MemorySink();

  constructor(options: LocalBatchOptions) {
    this.#options = options;
  }

  get records(): ReadonlyMap<string, PageRecord> {
    return this.#sink.records;
  }

  /**
   * Resolves when all is crawled, or after either signal is aborted. No other process crawls the rest.
   *
   * @throws StorageError if a file can't be written
   */
  async run(over: AbortSignal, left: AbortSignal, onBegun: () => void): Promise<void> {
    onBegun();
    const signal = AbortSignal.any([over, left]);
    const { read, inputs, measures, log, clock } = this.#options;
    const { run, settings, runOptions, loaded } = read;
    const seeds = new Map<string, Seed>();
    for (const input of inputs) {
      if (!('offer' in input)) continue;
      const { url, logins } = input.offer;
      seeds.set(input.task, { kind: 'page', url, ...(logins === undefined ? {} : { logins }) });
    }
    if (seeds.size === 0) return;
    const plan = { run, settings, runOptions, loaded, seeds: [...seeds.values()], hasInput: false };
    const fleet = new EmbeddedFleet(plan, {
      log,
      sink: this.#sink,
      measures,
      follow: async ({ untilOver }, over) => await untilOver(over),
    });
    await fleet.run(stoppingBy({ signal, who: 'the API', graceMs: GRACE_MS, clock }));
    if (fleet.failure !== undefined) throw fleet.failure;
  }
}
