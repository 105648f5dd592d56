import { type Command, Option } from 'commander';
import { connectFleet, newWorkerId, type ServiceName } from '../../../shared/backends/backends.ts';
import { openFetcher } from '../../../shared/backends/fetchers.ts';
import { openFiles, openSink, sinkNameOf } from '../../../shared/backends/sinks.ts';
import { secretsFrom } from '../../../shared/crawler/around/secrets.ts';
import { loadCatalogue } from '../../../shared/crawler/loading/catalogue.ts';
import { Janitor } from '../../../shared/loops/janitor.ts';
import { openProcessMetrics, serveSum } from '../../../shared/metrics/process-metrics.ts';
import type { RunOverview } from '../../../shared/ports/run-overview.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { usableCores } from '../../../shared/runtime/cores.ts';
import { ConfigurationError, EXIT_CONFIGURATION, messageOf, UsageError } from '../../../shared/runtime/errors.ts';
import { type Service, startAll, stopAll, stopTogether } from '../../../shared/runtime/lifecycle.ts';
import { memoryLimit, shareMemoryAmong } from '../../../shared/runtime/limits.ts';
import { VERSION } from '../../../shared/runtime/version.ts';
import { takeGivenByPipe } from '../../../shared/settings/env-file.ts';
import { integer } from '../../../shared/settings/parsers.ts';
import { readEnvironment } from '../../../shared/settings/settings.ts';
import { runOptionsFor } from '../../process/crawler-input.ts';
import { hostHeadersOf } from '../../process/host-headers.ts';
import { LostDeliveries } from '../../process/lost-deliveries.ts';
import { openReleaser } from '../../process/open-releaser.ts';
import { openWatchdog } from '../../process/open-watchdog.ts';
import { openWorker } from '../../process/open-worker.ts';
import { Outages } from '../../process/outages.ts';
import { routingRulesOf } from '../../process/routing-rules.ts';
import type { Worker } from '../../worker/worker.ts';
import { addCommonOptions, type CommandModule, type Context, withContext } from '../command.ts';
import { Interrupts, onStopSignals } from '../process/interrupts.ts';
import { report } from '../process/report.ts';
import { stopWithParent, WorkerProcesses } from '../supervisor/worker-processes.ts';

interface WorkOptions {
  readonly exitWhenIdle?: boolean;
  readonly stayUp?: boolean;
  readonly processes?: number;
  /** The number of this worker process, if there are several. */
  readonly asProcess?: string;
}

/** Interval between two checks whether any run has work. */
const IDLE_LOOK_EVERY_MS = 1_000;

/** `trawl work`: runs a worker of the fleet, or several. */
export const command: CommandModule = {
  define(command: Command, exit) {
    addCommonOptions(command, ['run', 'fetch', 'worker', 'fleet', 'metrics', 'output'])
      .option(
        '--processes <count>',
        'number of worker processes, each restarted when it dies; auto: one for each core',
        readCount,
      )
      .addOption(new Option('--as-process <number>').hideHelp())
      .option('--exit-when-idle', 'stop once no run has work')
      .option(
        '--stay-up',
        'if settings are wrong, report them once and wait, so that a container is not restarted for ever',
      )
      .action(async (options: WorkOptions) => {
        const { processes, asProcess } = options;
        const isSupervisor = processes !== undefined && asProcess === undefined;
        if (asProcess !== undefined) takeGivenByPipe();
        const logFields = asProcess === undefined ? {} : { process: Number(asProcess) };
        try {
          exit(
            await withContext(
              options,
              { logLevel: 'info', stopsInOrder: true, logFields, warnsOfSettings: asProcess === undefined },
              (context) => (isSupervisor ? supervise(options, context) : work(options, context)),
            ),
          );
        } catch (error: unknown) {
          if (options.stayUp !== true || asProcess !== undefined || !(error instanceof ConfigurationError)) throw error;
          exit(report(error));
          await untilSignalled();
        }
      });
  },
};

/** @throws UsageError */
function readCount(given: string): number {
  if (given === 'auto') return usableCores();
  const read = integer({ min: 1, max: 1_024 })(given);
  if ('value' in read) return read.value;
  throw new UsageError(`expected --processes to be ${read.expected}, or auto, got "${given}"`);
}

/** Keeps several workers running, each in a process of its own. */
async function supervise(
  { processes: count = 1, exitWhenIdle = false, stayUp = false }: WorkOptions,
  { settings, log }: Context,
): Promise<number> {
  log.info({ processes: count }, 'starting worker processes');
  const metrics = await serveSum({ settings, log });
  const onStarted = metrics?.add;
  const code = await new WorkerProcesses({ count, exitWhenIdle, log, onStarted }).run();
  await metrics?.stop();
  log.info({}, 'all worker processes stopped');
  if (stayUp && code === EXIT_CONFIGURATION) await untilSignalled();
  return code;
}

async function work(options: WorkOptions, context: Context): Promise<number> {
  const { settings, log } = context;
  if (options.asProcess !== undefined) {
    stopWithParent();
    shareMemoryAmong(options.processes ?? 1);
  }
  const id = options.asProcess === undefined ? newWorkerId() : `${newWorkerId()}-${options.asProcess}`;
  const interrupts = new Interrupts();
  const metrics = await openProcessMetrics({ settings, log, isOneOfSeveral: options.asProcess !== undefined });
  let worker: Worker | undefined;
  const outages = new Outages(log, systemClock);
  const events = {
    lost: (service: ServiceName, reason: string) => {
      outages.lost(service, reason);
      metrics.noteService(service, false);
      if (service === 'Redis') void worker?.suspend('Redis');
    },
    restored: (service: ServiceName) => {
      outages.restored(service);
      metrics.noteService(service, true);
      if (service === 'Redis') void worker?.resume('Redis');
    },
  };
  const connect = {
    settings,
    log,
    events,
    name: `trawl work ${id}`,
    attempts: Number.POSITIVE_INFINITY,
    warnsOfLoss: true,
    waitsForWrites: true,
    signal: interrupts.signal,
  };
  try {
    await metrics.start();
    const rules = await routingRulesOf(settings);
    const hostHeaders = await hostHeadersOf(settings);
    const { catalogue, chosen } = await loadCatalogue(settings.crawlersDir, settings.crawler);
    const crawlers = catalogue.crawlers.map(({ crawler }) => crawler);
    const secrets = secretsFrom(readEnvironment(), crawlers);
    for (const [crawler, lacking] of Object.entries(secrets.lacking))
      log.warn({ crawler, lacking }, 'the environment lacks secrets of a crawler: its tasks are left to other workers');
    const defaults = runOptionsFor(chosen, settings, 'ever');
    // The sink comes first: a worker with nowhere to store records must not be counted as consuming.
    const sink = metrics.sink(await openSink(connect, id), sinkNameOf(settings));
    const opened: Pick<Service, 'stop'>[] = [sink];
    try {
      const { stores, transport } = metrics.fleet(await connectFleet(connect));
      opened.push(transport, { stop: async () => stores.close() });
      const fetcher = metrics.fetcher(await openFetcher({ settings, version: VERSION, hostHeaders, log }));
      opened.push(fetcher);
      const clock = systemClock;
      const parts = { settings, stores, transport, sink, defaults, worker: id, log };
      const releaser = openReleaser(parts);
      const onOffered = (): void => releaser.nudge();
      const watch = openWatchdog(settings, () => ['Pages in hand are delivered again, and each counts another start.']);
      const files = await openFiles(settings);
      const { observer } = metrics;
      const pages = openWorker({ ...parts, files, fetcher, rules, watch, observer, onOffered, catalogue, secrets });
      metrics.watchWorker(() => pages);
      worker = pages;
      const isBusy = (): boolean => pages.inHand > 0 || pages.state !== 'consuming';
      const lost = new LostDeliveries({ ...stores, transport, clock, isBusy });
      const janitor = new Janitor({ ...stores, clock, log, putBackLost: () => lost.putBack() });
      await stores.connectCache?.();
      await startAll([sink, watch, worker, releaser, janitor]);
      opened.push(watch);
      const memoryMiB = Math.floor(memoryLimit() / 2 ** 20);
      log.info({ slots: worker.slots, memoryMiB, worker: id }, 'consuming');
      const { signal } = interrupts;
      await (options.exitWhenIdle === true ? untilIdle(stores.runs, signal) : untilAborted(signal));
      log.info({ inHand: worker.inHand }, 'stopping: finishing the pages in hand');
      const running = worker;
      await interrupts.within(
        () => stopTogether([running, releaser, janitor]),
        () => running.abort(),
        interrupts.exitCode,
      );
    } finally {
      await stopAll(opened);
    }
    log.info({}, 'stopped');
  } catch (error: unknown) {
    if (!interrupts.signal.aborted) throw error;
    log.info({ what: messageOf(error) }, 'stopped:');
  } finally {
    await metrics.stop();
    interrupts.close();
  }
  return interrupts.exitCode;
}

async function untilSignalled(): Promise<void> {
  // A handler alone doesn't keep a process alive.
  const alive = setInterval(() => {}, 2 ** 30);
  await new Promise((resolve) => onStopSignals(resolve));
  clearInterval(alive);
}

/** Resolves once at least one run is known and none is open. A run that waits for seeds counts as open. */
async function untilIdle(runs: RunOverview, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const { known, open } = await runs.counts();
    if (known > 0 && open === 0) return;
    await systemClock.sleep(IDLE_LOOK_EVERY_MS, signal);
  }
}

async function untilAborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}
