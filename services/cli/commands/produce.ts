import type { Command } from 'commander';
import { connectFleet, newWorkerId, type ServiceName, type Stores } from '../../../shared/backends/backends.ts';
import { openFetcher } from '../../../shared/backends/fetchers.ts';
import { openSink, recordsPlaceOf, sinkNameOf } from '../../../shared/backends/sinks.ts';
import { count, counted } from '../../../shared/control/format.ts';
import { newRunId, readRunId } from '../../../shared/control/run-id.ts';
import { readLimit } from '../../../shared/control/run-limit.ts';
import { RunWatcher } from '../../../shared/control/run-watcher.ts';
import { refuseOlderWorkers } from '../../../shared/control/workers/older-workers.ts';
import { findCrawler } from '../../../shared/crawler/loading/catalogue.ts';
import { Janitor } from '../../../shared/loops/janitor.ts';
import type { Releaser } from '../../../shared/loops/releaser.ts';
import { openProcessMetrics } from '../../../shared/metrics/process-metrics.ts';
import type { RunProgress } from '../../../shared/ports/runs.ts';
import type { Transport } from '../../../shared/ports/transport.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { keepHeapSmall } from '../../../shared/runtime/engine/small-heap.ts';
import { UsageError } from '../../../shared/runtime/errors.ts';
import { type Service, stopAll } from '../../../shared/runtime/lifecycle.ts';
import { TRAWL, WORK_COMMAND } from '../../../shared/runtime/started-as.ts';
import { VERSION } from '../../../shared/runtime/version.ts';
import { readCrawlerInput, runOptionsFor } from '../../process/crawler-input.ts';
import { hostHeadersOf } from '../../process/host-headers.ts';
import { openReleaser } from '../../process/open-releaser.ts';
import { Outages } from '../../process/outages.ts';
import { producedJson } from '../../process/produced-json.ts';
import { routingRulesOf } from '../../process/routing-rules.ts';
import { WatchedProducer } from '../../process/watched-producer.ts';
import { RunLostError } from '../../producer/run-lost.ts';
import type { Seed } from '../../producer/seeds.ts';
import { addCommonOptions, type CommandModule, type Context, QUIET_HELP, repeated, withContext } from '../command.ts';
import { sayWaiting } from '../process/awaited-seeds.ts';
import { followRun } from '../process/follow-run.ts';
import { warnOfIdleFlags } from '../process/idle-flags.ts';
import { EXIT_INTERRUPTED, Interrupts } from '../process/interrupts.ts';
import { tellIfLost } from '../process/lost-run.ts';
import { recordsFlags } from '../process/place-flags.ts';
import { tellEnd } from '../process/tell-end.ts';
import { leftOutLines } from '../text/left-out.ts';
import { print, printJson, say } from '../text/output.ts';
import { exitCodeOf, knownText, nothingNew } from '../text/summary.ts';

interface ProduceOptions {
  readonly run?: string;
  readonly urlsFile?: string[];
  readonly arg?: string[];
  readonly limit?: string;
  readonly wait?: boolean;
  readonly fresh?: boolean;
  readonly strict?: boolean;
}

/** Interval between two reads of a run's standing. */
const POLL_EVERY_MS = 500;
/** Interval between two checks of this process' own producer. */
const LOOK_EVERY_MS = 50;

/** `trawl produce SEED…`: offers seeds to the fleet's frontier. */
export const command: CommandModule = {
  define(command: Command, exit) {
    addCommonOptions(command, ['run', 'fetch', 'fleet', 'metrics', 'output'])
      .argument(
        '[seeds...]',
        'sites, sitemaps, pages, files of URLs, or - for a list on standard input (default: SEEDS)',
      )
      .option('--urls-file <file>', 'a file of URLs, one per line (can be repeated)', repeated)
      .option('--run <id>', 'join this run, or name the new one')
      .option('--arg <name=value>', 'a crawler argument for a new run (can be repeated)', repeated)
      .option('--limit <n>', 'for a new run: take the first n URLs')
      .option('--wait', 'wait until the run is finished')
      .option('--fresh', 'also crawl URLs that earlier runs have taken')
      .option('--quiet', QUIET_HELP)
      .option('--strict', 'with --wait: exit with 3 if anything failed')
      .action(async (texts: string[], options: ProduceOptions) => {
        exit(
          await withContext(options, { logLevel: 'warn', tellsProgress: true, stopsInOrder: true }, (context) =>
            produce(texts, options, context),
          ),
        );
      });
  },
};

interface Parts {
  readonly run: string;
  readonly stores: Stores;
  readonly transport: Transport;
  readonly watched: WatchedProducer;
  readonly releaser: Releaser;
  readonly interrupts: Interrupts;
}

async function produce(texts: readonly string[], options: ProduceOptions, context: Context): Promise<number> {
  const { settings, log } = context;
  const given = texts.length === 0 && options.urlsFile === undefined ? settings.seeds : texts;
  const loaded = await findCrawler(settings.crawler, settings.crawlersDir);
  const { crawler } = loaded;
  const { seeds, args } = await readCrawlerInput(crawler, given, options, { settings, onWait: sayWaiting });
  warnOfIdleFlags(crawler, seeds, context);
  if (seeds.length === 0)
    throw new UsageError('nothing to produce: name a site, a sitemap, a page or a file of URLs, or set SEEDS');
  const run = options.run === undefined ? newRunId() : readRunId(options.run);
  const rules = await routingRulesOf(settings);
  const hostHeaders = await hostHeadersOf(settings);
  const dedup = options.fresh === true ? 'run' : 'ever';
  const runOptions = { ...runOptionsFor(loaded, settings, dedup), ...readLimit(options.limit), ...args };
  keepHeapSmall();
  const producer = newWorkerId();
  const interrupts = new Interrupts(() => [leftOpen(run)]).endInTime();
  const metrics = await openProcessMetrics({ settings, log, isBrief: true });
  let watched: WatchedProducer | undefined;
  const outages = new Outages(log, systemClock);
  const events = {
    lost: (service: ServiceName, reason: string) => {
      outages.lost(service, reason);
      metrics.noteService(service, false);
      if (service === 'Redis') watched?.noteAway();
    },
    restored: (service: ServiceName) => {
      outages.restored(service);
      metrics.noteService(service, true);
      // Redis may have lost its last second of writes.
      if (service === 'Redis') watched?.repeatRecent();
    },
  };
  const name = `trawl produce ${producer}`;
  const connect = { settings, log, events, name, signal: interrupts.signal, waitsForWrites: true };
  const opened: Pick<Service, 'stop'>[] = [metrics];
  try {
    await metrics.start();
    // Tasks that fail before a worker has them, past their deadline say, still get a record.
    const sink = metrics.sink(await openSink(connect, producer), sinkNameOf(settings));
    opened.unshift(sink);
    const { stores, transport } = metrics.fleet(await connectFleet(connect));
    opened.unshift(transport, { stop: async () => stores.close() });
    if (crawler.pageFunction === undefined) await refuseOlderWorkers(stores.roster);
    const fetcher = metrics.fetcher(await openFetcher({ settings, version: VERSION, hostHeaders, log }));
    opened.unshift(fetcher);
    const releasing = { settings, stores, transport, sink, defaults: runOptions, worker: producer, log };
    const releaser = openReleaser(releasing);
    opened.unshift(releaser);
    const onOffered = (): void => releaser.nudge();
    watched = new WatchedProducer({
      ...{ settings, stores, fetcher, rules, run, runOptions, producer, log, onOffered },
      startOf: (href) => crawler.startOf(href),
    });
    const parts = { run, stores, transport, watched, releaser, interrupts };
    return options.wait === true
      ? await produceAndWait(seeds, parts, options, context)
      : await produceOnly(seeds, parts, context);
  } catch (error: unknown) {
    tellIfLost(error, context);
    throw error;
  } finally {
    await stopAll(opened).finally(() => interrupts.close());
  }
}

async function produceOnly(seeds: readonly Seed[], parts: Parts, context: Context): Promise<number> {
  const { run, stores, watched, releaser, interrupts } = parts;
  await releaser.start();
  await tellWhile(parts, context, (watch) => watched.meanwhile(seeds, interrupts.signal, watch));
  if (interrupts.by !== undefined) {
    say(`Interrupted: ${leftOpen(run)}`);
    return EXIT_INTERRUPTED;
  }
  await releaser.stop();
  await releaser.fill();
  const progress = await ownProgress(parts);
  if (progress === undefined) throw new RunLostError(run);
  tellOffered(progress, watched, (await stores.roster.workers()).length, context);
  return 0;
}

async function produceAndWait(
  seeds: readonly Seed[],
  parts: Parts,
  options: ProduceOptions,
  context: Context,
): Promise<number> {
  const { settings, log } = context;
  const { run, stores, watched, releaser, interrupts } = parts;
  const janitor = new Janitor({ frontier: stores.frontier, clock: systemClock, log });
  await releaser.start();
  await janitor.start();
  try {
    await tellWhile(parts, context, (watch) => watched.meanwhile(seeds, interrupts.signal, watch), true);
  } finally {
    await janitor.stop();
  }
  const progress = await ownProgress(parts);
  if (progress === undefined) throw new RunLostError(run);
  if (interrupts.by !== undefined && progress.endedAt === undefined) {
    say(`No longer waiting: run ${run} continues. Watch it with: ${TRAWL} status ${run} --watch`);
    return EXIT_INTERRUPTED;
  }
  tellEnd(progress, context, { records: recordsPlaceOf(settings, run), recordsFlag: recordsFlags(context) });
  return exitCodeOf(progress, options.strict === true);
}

/** Runs `work` and reports the run's progress meanwhile: until all seeds are offered, or with `toTheEnd` until the run has ended. */
async function tellWhile(
  parts: Parts,
  { telling }: Context,
  work: (watch: (signal: AbortSignal) => Promise<unknown>) => Promise<void>,
  toTheEnd = false,
): Promise<void> {
  const { run, stores, watched, interrupts } = parts;
  const watcher = new RunWatcher({
    run,
    runs: stores.runs,
    roster: stores.roster,
    memory: stores.memory,
    oldestDueMs: () => stores.hosts.oldestDueMs(),
    clock: systemClock,
    isOwn: (standing) => watched.isOwn(standing),
  });
  const reading = (): string | undefined => watched.note;
  await work(async (signal) => {
    if (!toTheEnd) {
      const untilOver = (over: AbortSignal): Promise<void> => untilOffered(watched, over);
      return await followRun({ watcher, telling, reading, untilOver }, AbortSignal.any([signal, interrupts.signal]));
    }
    // If Redis comes back without the recorded end of the run, the run continues, and so must the wait.
    const untilOver = async (over: AbortSignal): Promise<void> => {
      do {
        await watcher.untilEnded(POLL_EVERY_MS, over);
        if (!over.aborted) await watched.repeated();
      } while (!over.aborted && !(await hasEnded(parts)));
    };
    await followRun({ watcher, telling, reading, untilOver }, signal);
  });
}

function leftOpen(run: string): string {
  return `run ${run} stays open. Resume with: ${TRAWL} produce --run ${run} …`;
}

async function untilOffered(watched: WatchedProducer, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && watched.progress.state !== 'done') await systemClock.sleep(LOOK_EVERY_MS, signal);
}

/** Reads the progress of the run that this process opened; undefined if that run is lost. */
async function ownProgress({ run, stores, watched }: Parts): Promise<RunProgress | undefined> {
  const progress = await stores.runs.progress(run);
  return progress !== undefined && watched.isOwn(progress) ? progress : undefined;
}

async function hasEnded({ run, stores, watched }: Parts): Promise<boolean> {
  const standing = await stores.runs.standing(run);
  return standing === undefined || !watched.isOwn(standing) || standing.hasEnded;
}

function tellOffered(
  progress: RunProgress,
  watched: WatchedProducer,
  workers: number,
  { json, telling }: Context,
): void {
  const { run, discovered, duplicate, waiting, inFlight } = progress;
  const { malformed } = watched.progress;
  if (json) {
    printJson(producedJson(progress, watched.progress, workers));
    return;
  }
  if (telling === 'nothing') return;
  if (discovered === 0 && duplicate > 0) {
    print([`Run ${run}: ${nothingNew(progress)}`]);
    return;
  }
  const also = [
    malformed > 0 ? `${count(malformed)} malformed` : '',
    duplicate > 0 ? `${count(duplicate)} ${knownText(progress)}` : '',
  ].filter((part) => part !== '');
  const behind = also.length === 0 ? '' : ` (${also.join(', ')})`;
  const start = workers === 0 ? `Workers: none is running (${WORK_COMMAND})    ` : '';
  print([
    `Run ${run}: ${counted(discovered, 'URL')} offered${behind}; ${count(inFlight)} released, ${count(waiting)} wait.`,
    ...leftOutLines(progress),
    `${start}Progress: ${TRAWL} status ${run} --watch`,
  ]);
}
