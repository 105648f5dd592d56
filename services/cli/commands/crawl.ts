import { type Command, Option } from 'commander';
import { recordsPlaceOf } from '../../../shared/backends/sinks.ts';
import { summaryJson } from '../../../shared/control/summary-json.ts';
import { RemovedFileError } from '../../../shared/runtime/errors.ts';
import { TRAWL } from '../../../shared/runtime/started-as.ts';
import { EmbeddedFleet } from '../../process/embedded-fleet.ts';
import { addCommonOptions, type CommandModule, type Context, QUIET_HELP, repeated, withContext } from '../command.ts';
import { HEADINGS } from '../help/flags.ts';
import { embeddedContext } from '../process/embedded-context.ts';
import { EXIT_INTERRUPTED, Interrupts, untilInterrupted } from '../process/interrupts.ts';
import { warnOfLeftInRuns } from '../process/left-in-runs.ts';
import { recordsFlags } from '../process/place-flags.ts';
import { type CrawlOptions, planNew, planResumed, resumeCommand } from '../process/plan-crawl.ts';
import { tellEnd } from '../process/tell-end.ts';
import { planTableOfCrawl, tableFlags, writeTableOf } from '../tables/crawl-table.ts';
import { addTableOptions, type TableOptions } from '../tables/table-flags.ts';
import { printJson, say, sayFailure } from '../text/output.ts';
import { exitCodeOf } from '../text/summary.ts';
import { unreadProxy } from '../text/unread-proxy.ts';

/** `trawl crawl SEED…`: producer, frontier and worker in one process, with no services. */
export const command: CommandModule = {
  define(command: Command, exit) {
    addTableOptions(addCommonOptions(command, ['run', 'fetch', 'worker', 'output']), { isBrief: true })
      .argument('[seeds...]', 'sites, sitemaps, pages, files of URLs, or - for a list on standard input')
      .option('--urls-file <file>', 'a file of URLs, one per line (can be repeated)', repeated)
      .option('--run <id>', 'a name for the run (default: by date and time)')
      .option('--resume [run]', 'resume a run (default: the one last active)')
      .addOption(
        new Option(
          '--dedup <scope>',
          'ever: leave out URLs that earlier crawls with --dedup ever took; run: take all [run]',
        )
          .helpGroup(HEADINGS.run)
          .hideHelp(),
      )
      .option('--arg <name=value>', 'an argument of the crawler (can be repeated)', repeated)
      .option('--limit <n>', 'take the first n URLs, links included')
      .option('--quiet', QUIET_HELP)
      .option('--strict', 'exit with 3 if anything failed')
      .action(async (texts: string[], { dedup, ...flags }: CrawlOptions & TableOptions) => {
        // `--dedup` of `crawl` is not the setting of that name, which is about Redis.
        const options = dedup === undefined ? flags : { ...flags, dedup };
        exit(
          await withContext(flags, { logLevel: 'warn', tellsProgress: true, stopsInOrder: true }, (context) =>
            crawl(texts, options, context),
          ),
        );
      });
  },
};

/** Crawls and returns the exit code. */
export async function crawl(
  texts: readonly string[],
  options: CrawlOptions & TableOptions,
  context: Context,
): Promise<number> {
  const { resume, strict = false } = options;
  // Report wrong flags before anything is crawled.
  const table = await planTableOfCrawl(texts, options, context);
  const plan =
    resume === undefined ? await planNew(texts, options, context) : await planResumed(texts, options, context);
  if ('ended' in plan) {
    const { ended, crawler } = plan;
    if (context.json) printJson(summaryJson(ended));
    say(`Run ${ended.run} is ${ended.state}: nothing left to do.`);
    await writeTableOf(ended, table, { ...context, settings: { ...context.settings, crawler } });
    return 0;
  }
  if (resume === undefined) await warnOfLeftInRuns(plan.runOptions, context);
  // A resumed run keeps the flags it was begun with.
  const own = { ...context, settings: plan.settings };
  const recordsFlag = recordsFlags(context, own.settings.sink);
  const fleet = new EmbeddedFleet(plan, embeddedContext(context));
  const goOn = (): string =>
    plan.kept === undefined ? '' : resumeCommand(plan, context, fleet.isAllRead) + tableFlags(options);
  const interrupts = new Interrupts(() => (goOn() === '' ? [] : [`Resume with: ${goOn()}`]));
  try {
    const progress = await fleet.run(interrupts);
    if (progress !== undefined) {
      const isStopped = interrupts.by !== undefined || fleet.failure !== undefined;
      const isInterrupted = isStopped && progress.endedAt === undefined;
      const records = recordsPlaceOf(own.settings, progress.run);
      // If the table goes to standard output, the summary must not.
      const isStandardOutputTaken = table !== undefined && table.path === undefined;
      const told = { records, recordsFlag, isLocal: true, isInterrupted, unreadProxy: unreadProxy(own.settings) };
      tellEnd(progress, context, told, isStandardOutputTaken);
    }
    const { failure } = fleet;
    if (failure !== undefined) {
      const kept = `What is done is kept.${goOn() === '' ? '' : ` Once this is fixed: ${goOn()}`}`;
      const lost = 'A resumed run would not fetch the lost pages again: begin a new one.';
      sayFailure(failure.message, failure instanceof RemovedFileError ? lost : kept);
      return 1;
    }
    const wasInterrupted = interrupts.by !== undefined;
    try {
      // After an interrupt, a table of the records so far.
      if (progress !== undefined) await untilInterrupted((signal) => writeTableOf(progress, table, { ...own, signal }));
    } catch (error: unknown) {
      if (wasInterrupted || interrupts.by === undefined) throw error;
      const command = `${TRAWL} records ${progress?.run}${recordsFlag}${tableFlags(options)}`;
      say(`The table was not written. Write it with: ${command}`);
    } finally {
      // `dlq replay` may have reopened the run as it was ending.
      if (progress?.endedAt === undefined && goOn() !== '') say(`Resume with: ${goOn()}`);
    }
    if (interrupts.by === undefined && progress !== undefined) return exitCodeOf(progress, strict);
    return EXIT_INTERRUPTED;
  } finally {
    interrupts.close();
  }
}
