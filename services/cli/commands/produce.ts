import type { Command } from 'commander';
import {
  connectFleet,
  newWorkerId,
  openFetcher,
  type ServiceName,
  type Stores,
} from '../../../shared/backends/backends.ts';
import { openSink, recordsPlaceOf } from '../../../shared/backends/sinks.ts';
import { count } from '../../../shared/control/format.ts';
import { runOptionsOf } from '../../../shared/control/run-options.ts';
import { type RunView, RunWatcher } from '../../../shared/control/run-watcher.ts';
import { loadCrawler } from '../../../shared/crawler/load.ts';
import { Janitor } from '../../../shared/loops/janitor.ts';
import type { Releaser } from '../../../shared/loops/releaser.ts';
import type { RunProgress } from '../../../shared/ports/runs.ts';
import type { Transport } from '../../../shared/ports/transport.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { keepHeapSmall } from '../../../shared/runtime/engine/small-heap.ts';
import { UsageError } from '../../../shared/runtime/errors.ts';
import { type Service, stopAll } from '../../../shared/runtime/lifecycle.ts';
import { TRAWL } from '../../../shared/runtime/started-as.ts';
import { VERSION } from '../../../shared/runtime/version.ts';
import { RunLostError } from '../../producer/run-lost.ts';
import { readSeeds, type Seed } from '../../producer/seeds.ts';
import { addCommonOptions, type CommandModule, type Context, withContext } from '../command.ts';
import { hostHeadersOf } from '../process/host-headers.ts';
import { EXIT_INTERRUPTED, Interrupts } from '../process/interrupts.ts';
import { tellIfLost } from '../process/lost-run.ts';
import { openReleaser } from '../process/open-releaser.ts';
import { Outages } from '../process/outages.ts';
import { routingRulesOf } from '../process/routing-rules.ts';
import { newRunId, readRunId } from '../process/run-id.ts';
import { readLimit } from '../process/run-limit.ts';
import { WatchedProducer } from '../process/watched-producer.ts';
import { leftOutLines } from '../text/left-out.ts';
import { print, printJson, say } from '../text/output.ts';
import { DRAW_EVERY_MS, isWatched, ProgressLine } from '../text/progress-line.ts';
import { exitCodeOf, knownText, nothingNew, summaryJson, summaryLines } from '../text/summary.ts';

interface ProduceOptions {
  readonly run?: string;
  readonly urlsFile?: string[];
  readonly limit?: string;
  readonly wait?: boolean;
  readonly fresh?: boolean;
  readonly strict?: boolean;
}

/** How to start a worker. */
const WORKER_COMMAND = `${TRAWL} work`;
/** Between two reads of a run's state where no progress line is drawn. */
const POLL_EVERY_MS = 500;

/** `trawl produce SEED…`: seeds into the frontier of the fleet. */
export const command: CommandModule = {
  define(command: Command, exit) {
    addCommonOptions(command, ['run', 'fetch', 'fleet', 'output'])
      .argument(
        '[seeds...]',
        'sites, sitemaps, pages, files of URLs, or - for a list on standard input (default: SEEDS)',
      )
      .option('--urls-file <file...>', 'a file of URLs, one a line')
      .option('--run <id>', 'join this run, or name the new one')
      .option('--limit <n>', 'of a new run: take the first n URLs, seeds and links together')
      .option('--wait', 'stay until the run is finished')
      .option('--fresh', 'crawl URLs that earlier runs have taken, too')
      .option('--strict', 'with --wait: exit with 3 if anything failed')
      .action(async (texts: string[], options: ProduceOptions) => {
        exit(
          await withContext({ ...options }, { logLevel: 'warn', drawsProgress: true, stopsInOrder: true }, (context) =>
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
  const seeds = await readSeeds(given, options.urlsFile);
  if (seeds.length === 0)
    throw new UsageError('nothing to produce: name a site, a sitemap, a page or a file of URLs, or set SEEDS');
  const run = options.run === undefined ? newRunId() : readRunId(options.run);
  const rules = await routingRulesOf(settings);
  const hostHeaders = await hostHeadersOf(settings);
  const dedup = options.fresh === true ? 'run' : 'ever';
  const runOptions = { ...runOptionsOf(settings, dedup), ...readLimit(options.limit) };
  await loadCrawler(runOptions.crawler, { folder: settings.crawlersDir, takesPaths: false });
  keepHeapSmall();
  const producer = newWorkerId();
  const interrupts = new Interrupts();
  let watched: WatchedProducer | undefined;
  const outages = new Outages(log, systemClock);
  const events = {
    lost: (service: ServiceName, reason: string) => {
      outages.lost(service, reason);
      if (service === 'Redis') watched?.noteAway();
    },
    restored: (service: ServiceName) => {
      outages.restored(service);
      // Redis may have come back without its last second.
      if (service === 'Redis') watched?.repeatRecent();
    },
  };
  const connect = { settings, log, events, name: `trawl produce ${producer}`, signal: interrupts.signal };
  const opened: Pick<Service, 'stop'>[] = [];
  try {
    // No page comes this way, but the line about what fails before any worker has it in hand.
    const sink = await openSink(connect, producer);
    opened.push(sink);
    const { stores, transport } = await connectFleet(connect);
    const fetcher = await openFetcher({ settings, version: VERSION, hostHeaders, log });
    const releasing = { settings, stores, transport, sink, defaults: runOptions, worker: producer, log };
    const releaser = openReleaser(releasing);
    opened.unshift(releaser, transport, fetcher, { stop: async () => stores.close() });
    const onOffered = (): void => releaser.nudge();
    watched = new WatchedProducer({ settings, stores, fetcher, rules, run, runOptions, producer, log, onOffered });
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
  await drawWhile(parts, context, (watch) => watched.meanwhile(seeds, interrupts.signal, watch));
  if (interrupts.by !== undefined) {
    say(`Interrupted: the run ${run} stays open. Resume with: ${TRAWL} produce --run ${run} …`);
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
  const { settings, json, log } = context;
  const { run, stores, watched, releaser, interrupts } = parts;
  const janitor = new Janitor({ frontier: stores.frontier, clock: systemClock, log });
  await releaser.start();
  await janitor.start();
  try {
    await drawWhile(parts, context, (watch) => watched.meanwhile(seeds, interrupts.signal, watch), true);
  } finally {
    await janitor.stop();
  }
  const progress = await ownProgress(parts);
  if (progress === undefined) throw new RunLostError(run);
  if (interrupts.by !== undefined && progress.endedAt === undefined) {
    say(`Not waiting any more: the run ${run} goes on. Look at it with: ${TRAWL} status ${run} --watch`);
    return EXIT_INTERRUPTED;
  }
  if (json) printJson(summaryJson(progress));
  else print(summaryLines(progress, { records: recordsPlaceOf(settings, run) }));
  return exitCodeOf(progress, options.strict === true);
}

/** Runs `work` with a progress line on a terminal; with `toTheEnd`, until the run has ended. */
async function drawWhile(
  parts: Parts,
  { json }: Context,
  work: (watch: (signal: AbortSignal) => Promise<unknown>) => Promise<void>,
  toTheEnd = false,
): Promise<void> {
  const { run, stores, watched, interrupts } = parts;
  const line = isWatched(json) ? new ProgressLine() : undefined;
  const watcher = new RunWatcher({
    run,
    runs: stores.runs,
    roster: stores.roster,
    clock: systemClock,
    isOwn: (standing) => watched.isOwn(standing),
  });
  const offered = new AbortController();
  try {
    await work(async (signal) => {
      if (line === undefined && !toTheEnd) return;
      const until = toTheEnd ? signal : AbortSignal.any([signal, offered.signal, interrupts.signal]);
      const show = (view: RunView): void => {
        line?.show(view, watched.note);
        if (watched.note === undefined && watched.progress.state === 'done') offered.abort();
      };
      // If Redis comes back without the run's end, the run goes on, and so does the wait for it.
      for (let isOver = false; !isOver; ) {
        if (line === undefined) await watcher.untilEnded(POLL_EVERY_MS, until);
        else await watcher.follow(DRAW_EVERY_MS, show, until);
        if (!until.aborted) await watched.repeated();
        isOver = !toTheEnd || until.aborted || (await hasEnded(parts));
      }
    });
  } finally {
    line?.clear();
  }
}

/** The run that was opened, as it is now; nothing if it is lost. */
async function ownProgress({ run, stores, watched }: Parts): Promise<RunProgress | undefined> {
  const progress = await stores.runs.progress(run);
  return progress !== undefined && watched.isOwn(progress) ? progress : undefined;
}

async function hasEnded({ run, stores, watched }: Parts): Promise<boolean> {
  const standing = await stores.runs.standing(run);
  return standing === undefined || !watched.isOwn(standing) || standing.hasEnded;
}

function tellOffered(progress: RunProgress, watched: WatchedProducer, workers: number, { json }: Context): void {
  const { run, state, discovered, duplicate, waiting, inFlight, leftOut } = progress;
  const { malformed, older } = watched.progress;
  if (json) {
    const told = {
      run,
      state,
      discovered,
      duplicate,
      malformed,
      waiting,
      inFlight,
      leftOut,
      older,
      workers,
      ...(workers === 0 ? { workerCommand: WORKER_COMMAND } : {}),
    };
    printJson(told);
    return;
  }
  if (discovered === 0 && duplicate > 0) {
    print([`Run ${run}: ${nothingNew(progress)}`]);
    return;
  }
  const also = [
    malformed > 0 ? `${count(malformed)} malformed` : '',
    duplicate > 0 ? `${count(duplicate)} ${knownText(progress)}` : '',
  ].filter((part) => part !== '');
  const behind = also.length === 0 ? '' : ` (${also.join(', ')})`;
  const start = workers === 0 ? `Workers: none is running (${WORKER_COMMAND})    ` : '';
  print([
    `Run ${run}: ${count(discovered)} URLs offered${behind}; ${count(inFlight)} released, ${count(waiting)} wait.`,
    ...leftOutLines(progress),
    `${start}Progress: ${TRAWL} status ${run} --watch`,
  ]);
}
