import { sinkPlaceOf } from '../../shared/backends/sinks.ts';
import type { CrawlMeasures } from '../../shared/metrics/process-metrics.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { SETTINGS } from '../../shared/settings/table.ts';
import { SECOND_MS } from '../../shared/task/durations.ts';
import { EmbeddedFleet } from '../process/embedded-fleet.ts';
import type { RunPlan } from '../process/run-plan.ts';
import { stoppingBy } from '../process/stopping.ts';
import type { ProducerProgress } from '../producer/producer-progress.ts';
import type { ReadRequest } from './http/read-request.ts';
import { OFFERING } from './offers.ts';

/** Grace period for pages in hand when the API stops. */
const GRACE_MS = 8 * SECOND_MS;

interface LocalCrawlOptions {
  readonly log: Logger;
  readonly measures: CrawlMeasures;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called once the run is open. `produced` returns the progress of its producer. */
  readonly onOpen: (produced: () => ProducerProgress) => void;
}

/** Plans the local run that a request asks for. */
export function planOfRequest({ run, settings, runOptions, loaded, seeds, isForOffers }: ReadRequest): RunPlan {
  const crawler = loaded.crawler.name;
  const flags = { [SETTINGS.crawler.name]: crawler };
  const begin = { run, options: runOptions, crawler, seeds, flags, sink: sinkPlaceOf(settings) };
  const offered = isForOffers ? { offeredBy: OFFERING } : {};
  return { run, settings, runOptions, loaded, seeds, hasInput: false, kept: { begin }, ...offered };
}

/** Crawls a local run in this process until it has ended or `signal` is aborted. */
export async function crawlLocally(
  plan: RunPlan,
  { log, measures, clock, signal, onOpen }: LocalCrawlOptions,
): Promise<void> {
  const fleet = new EmbeddedFleet(plan, {
    log,
    measures,
    follow: async ({ produced, untilOver }, over) => {
      onOpen(produced);
      await untilOver(over);
    },
  });
  await fleet.run(stoppingBy({ signal, who: 'the API', graceMs: GRACE_MS, clock }));
  if (fleet.failure !== undefined) throw fleet.failure;
}
