import type { Command } from 'commander';
import { recordsPlaceOf } from '../../../shared/backends/records.ts';
import type { RunProgress } from '../../../shared/ports/runs.ts';
import { addCommonOptions, type CommandModule, type Context, withContext } from '../command.ts';
import { type CrawlOptions, planNew, planResumed, resumeCommand } from '../process/crawl-plan.ts';
import { Crawling } from '../process/crawling.ts';
import { EXIT_INTERRUPTED, Interrupts } from '../process/interrupts.ts';
import { print, printJson, say } from '../text/output.ts';
import { exitCodeOf, summaryJson, summaryLines } from '../text/summary.ts';

/** `trawl crawl SEED…`: producer, frontier and worker in one process, with no services. */
export const command: CommandModule = {
  define(command: Command, exit) {
    addCommonOptions(command, ['run', 'fetch', 'worker', 'output'])
      .argument('[seeds...]', 'sites, sitemaps, pages, files of URLs, or - for a list on standard input')
      .option('--urls-file <file...>', 'a file of URLs, one a line')
      .option('--run <id>', 'a name for the run (default: by date and time)')
      .option('--resume [run]', 'go on with a run that was interrupted (default: the one touched last)')
      .option('--strict', 'exit with 3 if anything failed')
      .action(async (texts: string[], options: CrawlOptions) => {
        exit(
          await withContext({ ...options }, { logLevel: 'warn', drawsProgress: true, stopsInOrder: true }, (context) =>
            crawl(texts, options, context),
          ),
        );
      });
  },
};

/** Crawls and returns the exit code. */
export async function crawl(texts: readonly string[], options: CrawlOptions, context: Context): Promise<number> {
  const { resume, strict = false } = options;
  const plan =
    resume === undefined ? await planNew(texts, options, context) : await planResumed(texts, options, context);
  if ('ended' in plan) {
    const { ended } = plan;
    if (context.json) printJson(summaryJson(ended));
    say(`Run ${ended.run} is ${ended.state}: nothing left to do.`);
    return 0;
  }
  const crawling = new Crawling(plan, context);
  const goOn = (): string => (plan.kept === undefined ? '' : resumeCommand(plan, context, crawling.isAllRead));
  const interrupts = new Interrupts(() => (goOn() === '' ? [] : [`Go on with: ${goOn()}`]));
  try {
    const progress = await crawling.run(interrupts);
    if (progress !== undefined) report(progress, context);
    const { failure } = crawling;
    if (failure !== undefined) {
      say(
        `trawl: ${failure.message}`,
        `What is done is kept.${goOn() === '' ? '' : ` Once this is mended: ${goOn()}`}`,
      );
      return 1;
    }
    if (interrupts.by === undefined && progress !== undefined) return exitCodeOf(progress, strict);
    if (progress?.endedAt === undefined && goOn() !== '') say(`Go on with: ${goOn()}`);
    return EXIT_INTERRUPTED;
  } finally {
    interrupts.close();
  }
}

function report(progress: RunProgress, { settings, json }: Context): void {
  if (json) printJson(summaryJson(progress));
  else print(summaryLines(progress, recordsPlaceOf(settings, progress.run)));
}
