import type { Stores } from '../../shared/backends.ts';
import { systemClock } from '../../shared/clock.ts';
import { loadCrawler } from '../../shared/crawler/load.ts';
import type { Fetcher } from '../../shared/fetcher.ts';
import type { Logger } from '../../shared/logger.ts';
import { keptApart } from '../../shared/response-cache.ts';
import type { RunOptions } from '../../shared/runs.ts';
import type { Settings } from '../../shared/settings-table.ts';
import type { Sink } from '../../shared/sink.ts';
import type { RoutingRule } from '../../shared/task/routing.ts';
import type { Transport } from '../../shared/transport.ts';
import { VERSION } from '../../shared/version.ts';
import { compileSoon } from '../worker/compile-soon.ts';
import { FailureLines } from '../worker/failure-lines.ts';
import { Robots } from '../worker/robots.ts';
import { RunDirectory } from '../worker/run-directory.ts';
import { SeedIntake } from '../worker/seed-intake.ts';
import { Worker } from '../worker/worker.ts';

interface OpenWorkerOptions {
  readonly settings: Settings;
  readonly stores: Stores;
  readonly transport: Transport;
  readonly fetcher: Fetcher;
  readonly sink: Sink;
  readonly rules: readonly RoutingRule[];
  /** For runs that the store doesn't know, and seeds that name none. */
  readonly defaults: RunOptions;
  /** This process' id. */
  readonly worker: string;
  readonly log: Logger;
  /** See {@link PipelineOptions.onOffered}. */
  readonly onOffered: () => void;
}

/** A worker out of its parts, not started. */
export function openWorker({ settings, stores, defaults, ...parts }: OpenWorkerOptions): Worker {
  compileSoon();
  const { frontier, runs, gate, cache, roster } = stores;
  const { rules, worker, fetcher, log } = parts;
  const { hostConcurrency, fetchTimeout: timeoutMs } = settings;
  const clock = systemClock;
  const robots = new Robots({ store: stores.robots, gate, fetcher, clock, hostConcurrency, timeoutMs, log });
  return new Worker({
    ...parts,
    frontier,
    gate,
    cache: keptApart(cache, (url) => fetcher.variantOf(url)),
    roster,
    failures: openFailureLines({ stores, defaults, ...parts }),
    robots: settings.robots === 'obey' ? robots : undefined,
    runs: new RunDirectory({ runs, loadCrawler, defaults }),
    intake: new SeedIntake({ frontier, runs, rules, defaults, worker }),
    maxBodyBytes: settings.maxBody,
    maxRedirects: settings.maxRedirects,
    hostConcurrency,
    concurrency: settings.workerConcurrency,
    priorityAck: settings.priorityAck,
    clock,
    random: Math.random,
    version: VERSION,
  });
}

/** Where failures that no worker had in hand are told of. */
export function openFailureLines({
  stores: { runs },
  defaults: { crawler },
  sink,
  worker,
}: Pick<OpenWorkerOptions, 'stores' | 'defaults' | 'sink' | 'worker'>): FailureLines {
  return new FailureLines({ runs, crawler, sink, worker, clock: systemClock });
}
