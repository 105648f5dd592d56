import type { Command } from 'commander';
import { newWorkerId, openEmbedded, openFetcher } from '../../shared/backends.ts';
import { systemClock } from '../../shared/clock.ts';
import { loadCrawler } from '../../shared/crawler/load.ts';
import { UsageError } from '../../shared/errors.ts';
import { Janitor } from '../../shared/janitor.ts';
import { startAll, stopAll } from '../../shared/lifecycle.ts';
import { openSink, recordsPlaceOf } from '../../shared/record-backends.ts';
import { Releaser } from '../../shared/releaser.ts';
import type { RunProgress } from '../../shared/runs.ts';
import { VERSION } from '../../shared/version.ts';
import { readSeeds, type Seed } from '../producer/seeds.ts';
import { addCommonOptions, type CommandModule, type Context, withContext } from './command.ts';
import { EXIT_INTERRUPTED, Interrupts } from './interrupts.ts';
import { openWorker } from './open-worker.ts';
import { Producing } from './producing.ts';
import { DRAW_EVERY_MS, isWatched, ProgressLine } from './progress-line.ts';
import { newRunId, readRunId } from './run-id.ts';
import { routingRulesOf, runOptionsOf, warnOfRobots } from './run-options.ts';
import { RunWatcher } from './run-watcher.ts';
import { exitCodeOf, summaryJson, summaryText } from './summary.ts';

interface CrawlOptions {
  readonly run?: string;
  readonly urlsFile?: string[];
  readonly strict?: boolean;
}

/** Between two looks whether the run has ended. */
const POLL_EVERY_MS = 50;

/** `trawl crawl SEED…`: producer, frontier and worker in one process, with no services. */
export const command: CommandModule = {
  define(command: Command, exit) {
    addCommonOptions(command, ['run', 'fetch', 'worker', 'output'])
      .argument('[seeds...]', 'sites, sitemaps, pages, files of URLs, or - for a list on standard input')
      .option('--urls-file <file...>', 'a file of URLs, one a line')
      .option('--run <id>', 'a name for the run (default: by date and time)')
      .option('--strict', 'exit with 3 if anything failed')
      .action(async (texts: string[], options: CrawlOptions) => {
        exit(
          await withContext({ ...options }, { logLevel: 'warn', drawsProgress: true }, (context) =>
            crawl(texts, options, context),
          ),
        );
      });
  },
};

/** Crawls and returns the exit code. */
export async function crawl(texts: readonly string[], options: CrawlOptions, context: Context): Promise<number> {
  const seeds = await readSeeds(texts, options.urlsFile);
  if (seeds.length === 0) throw new UsageError('nothing to crawl: name a site, a sitemap, a page or a file of URLs');
  const run = options.run === undefined ? newRunId() : readRunId(options.run);
  const interrupts = new Interrupts();
  try {
    const progress = await crawlSeeds(run, seeds, interrupts, context);
    report(progress, context);
    if (interrupts.by !== undefined) return EXIT_INTERRUPTED;
    return exitCodeOf(progress, options.strict === true);
  } finally {
    interrupts.close();
  }
}

async function crawlSeeds(
  run: string,
  seeds: readonly Seed[],
  interrupts: Interrupts,
  context: Context,
): Promise<RunProgress> {
  const { settings, log, json } = context;
  warnOfRobots(settings, log);
  const worker = newWorkerId();
  const rules = await routingRulesOf(settings);
  const runOptions = runOptionsOf(settings, 'run');
  await loadCrawler(runOptions.crawler);
  const [stores, fetcher, sink] = await Promise.all([
    openEmbedded(settings),
    openFetcher(settings, VERSION),
    openSink({ settings, log, name: `trawl crawl ${worker}`, signal: interrupts.signal }, worker),
  ]);
  const { transport, runs } = stores;
  const clock = systemClock;
  const releaser = new Releaser({ ...stores, clock, log, window: settings.releaseWindow });
  const janitor = new Janitor({ frontier: stores.frontier, clock, log });
  const onOffered = (): void => releaser.nudge();
  const pages = openWorker({
    settings,
    stores,
    transport,
    fetcher,
    sink,
    rules,
    defaults: runOptions,
    worker,
    log,
    onOffered,
  });
  const producing = new Producing({
    settings,
    stores,
    fetcher,
    rules,
    run,
    runOptions,
    producer: worker,
    log,
    onOffered,
  });
  const line = new ProgressLine(isWatched(json));
  await startAll([transport, sink, pages, releaser, janitor]);
  try {
    const watcher = new RunWatcher({ run, runs, clock });
    const everyMs = isWatched(json) ? DRAW_EVERY_MS : POLL_EVERY_MS;
    await producing.meanwhile(seeds, interrupts.signal, (signal) =>
      watcher.follow(everyMs, (view) => line.show(view, producing.note), signal),
    );
  } finally {
    line.clear();
    if (interrupts.by !== undefined)
      process.stderr.write('Finishing what is under way, at most 10 s. Ctrl-C again stops at once.\n');
    await interrupts.within(
      () => stopAll([releaser, janitor, pages]),
      () => pages.abort(),
    );
    await stopAll([sink, transport, fetcher]);
  }
  const progress = await runs.progress(run);
  if (progress === undefined) throw new Error(`the run ${run} was never opened`);
  return progress;
}

function report(progress: RunProgress, { settings, json }: Context): void {
  if (json) process.stdout.write(`${JSON.stringify(summaryJson(progress))}\n`);
  else process.stdout.write(summaryText(progress, recordsPlaceOf(settings, progress.run)));
}
