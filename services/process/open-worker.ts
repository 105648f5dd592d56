import type { Stores } from '../../shared/backends/backends.ts';
import { openRecords } from '../../shared/backends/sinks.ts';
import type { KnownSecrets } from '../../shared/crawler/around/secrets.ts';
import type { Catalogue } from '../../shared/crawler/loading/catalogue.ts';
import { HostSends } from '../../shared/loops/host-sends.ts';
import type { BodyBudget, Fetcher } from '../../shared/ports/fetcher.ts';
import type { FileStore } from '../../shared/ports/file-store.ts';
import type { Observer, StageObserver } from '../../shared/ports/observer.ts';
import { keptApart } from '../../shared/ports/response-cache.ts';
import type { RunOptions } from '../../shared/ports/runs.ts';
import type { Sink } from '../../shared/ports/sink.ts';
import type { Transport } from '../../shared/ports/transport.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { boundHeap } from '../../shared/runtime/engine/bounded-heap.ts';
import { optimiseEarly } from '../../shared/runtime/engine/early-optimisation.ts';
import { warnOfLittleMemory } from '../../shared/runtime/limits.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { VERSION } from '../../shared/runtime/version.ts';
import type { Settings } from '../../shared/settings/table.ts';
import type { RoutingRule } from '../../shared/task/task/routing.ts';
import { FailureLines } from '../worker/failure-lines.ts';
import { Robots } from '../worker/pipeline/hosts/robots.ts';
import type { StepWatch } from '../worker/pipeline/steps.ts';
import { RunDirectory } from '../worker/run-directory.ts';
import { SeedIntake } from '../worker/seed-intake.ts';
import { Worker } from '../worker/worker.ts';
import { keepingResults } from './batch-result-sink.ts';

interface OpenWorkerOptions {
  readonly settings: Settings;
  readonly stores: Stores;
  readonly transport: Transport;
  readonly fetcher: Fetcher & BodyBudget;
  readonly sink: Sink;
  readonly files: FileStore;
  readonly rules: readonly RoutingRule[];
  /** Options for runs that the store doesn't know, and for seeds that name no run. */
  readonly defaults: RunOptions;
  /** This process's id. */
  readonly worker: string;
  readonly log: Logger;
  readonly watch: StepWatch;
  /** See {@link HostTurnsOptions.observer}. */
  readonly observer?: (Observer & StageObserver) | undefined;
  /** See {@link LinkOffersOptions.onOffered}. */
  readonly onOffered: () => void;
  /** The crawlers it works with. A run in the store can only choose among them, and can't name a file. */
  readonly catalogue: Catalogue;
  /** The secrets of its crawlers. Tasks of a crawler that lacks some are left to other workers. */
  readonly secrets: KnownSecrets;
}

/** Returns a worker made of its parts, not started. */
export function openWorker({ settings, stores, defaults, catalogue, secrets, ...parts }: OpenWorkerOptions): Worker {
  optimiseEarly();
  warnOfLittleMemory(parts.log);
  const { frontier, runs, gate, cache, roster } = stores;
  const { rules, fetcher, log } = parts;
  const { hostConcurrency, fetchTimeout: timeoutMs } = settings;
  const clock = systemClock;
  const startOf = (name: string, href: string): string => catalogue.named(name).crawler.startOf(href);
  const { random } = Math;
  const sends = new HostSends(clock);
  const asking = { gate, sends, fetcher, clock, random, hostConcurrency };
  const robots = new Robots({ ...asking, store: stores.robots, timeoutMs, log });
  return new Worker({
    ...parts,
    sink: keepingResults(parts.sink, stores),
    ...asking,
    frontier,
    cache: keptApart(cache, (url) => fetcher.variantOf(url)),
    roster,
    failures: openFailureLines({ stores, defaults, ...parts }),
    robots: settings.robots === 'obey' ? robots : undefined,
    runs: new RunDirectory({
      ...{ runs, defaults, log },
      crawlerNamed: (name) => catalogue.named(name),
      secretsOf: secrets.of,
    }),
    intake: new SeedIntake({ frontier, runs, rules, defaults, startOf, clock }),
    progressOf: (run) => runs.progress(run),
    openRecords: () => openRecords({ settings, log, name: `trawl ${parts.worker}` }),
    maxBodyBytes: settings.maxBody,
    maxRedirects: settings.maxRedirects,
    stepTimeoutMs: settings.stepTimeout,
    fetchTimeoutMs: timeoutMs,
    concurrency: settings.workerConcurrency,
    priorityAck: settings.priorityAck,
    version: VERSION,
    crawlers: Object.fromEntries(
      Object.entries(catalogue.versions).filter(([name]) => secrets.lacking[name] === undefined),
    ),
    lacking: secrets.lacking,
    onWorking: boundHeap,
  });
}

/** Returns the recorder of failures that no worker had in hand. */
export function openFailureLines({
  stores,
  defaults: { crawler },
  sink,
  worker,
}: Pick<OpenWorkerOptions, 'stores' | 'defaults' | 'sink' | 'worker'>): FailureLines {
  return new FailureLines({
    runs: stores.runs,
    crawler,
    sink: keepingResults(sink, stores),
    worker,
    clock: systemClock,
  });
}
