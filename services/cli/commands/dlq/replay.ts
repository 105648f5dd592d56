import { connectForReplay } from '../../../../shared/backends/backends.ts';
import { count, counted, pace } from '../../../../shared/control/format.ts';
import { RUN_OPTION_OF, runOptionsOf } from '../../../../shared/control/run-options.ts';
import { findCrawler } from '../../../../shared/crawler/loading/catalogue.ts';
import { isPath } from '../../../../shared/crawler/loading/crawler-files.ts';
import type { RunOptions } from '../../../../shared/ports/runs.ts';
import { systemClock } from '../../../../shared/runtime/clock.ts';
import { TRAWL } from '../../../../shared/runtime/started-as.ts';
import { runOptionsFor } from '../../../process/crawler-input.ts';
import { replayJson } from '../../../process/replay-json.ts';
import { routingRulesOf } from '../../../process/routing-rules.ts';
import { Replayer, type ReplayResult, type ReplayTally } from '../../../producer/replayer.ts';
import type { Context } from '../../command.ts';
import { EXIT_INTERRUPTED, Interrupts } from '../../process/interrupts.ts';
import { tellIfLost } from '../../process/lost-run.ts';
import { LETTERS_READ, talliedLetters } from '../../process/with-archives.ts';
import { findLocal, namingLocal, tell } from '../../process/with-stores.ts';
import { lettersGone } from '../../text/letters-gone.ts';
import { say } from '../../text/output.ts';
import { ofOwners, replayedLines } from '../../text/replayed-lines.ts';
import { withTally } from '../../text/tally-line.ts';
import { type ReplayOptions, readFilter, readLimit, whoseLetters } from './filter.ts';
import { replayLocally } from './replay-local.ts';

const LEFT = 'the letters not offered yet are still there. Run the same command again.';

/** `trawl dlq replay`: offers letters again in new runs. Letters of a local crawl go back to that crawl. */
export async function replayLetters(options: ReplayOptions, context: Context): Promise<number> {
  const local = await findLocal(context, whoseLetters(options));
  if (local !== undefined) {
    try {
      return await replayLocally(options, local, context);
    } finally {
      local.close();
    }
  }
  const { settings, log } = context;
  const isDry = options.dryRun === true;
  const [filter, limit] = [readFilter(options), readLimit(options)];
  const isCrawlerNeeded = options.crawler !== undefined || isPath(settings.crawler);
  const defaults = isCrawlerNeeded
    ? runOptionsFor(await findCrawler(settings.crawler, settings.crawlersDir), settings, 'ever')
    : runOptionsOf(settings, 'ever');
  const overrides = overridesOf(options, defaults);
  const rules = await routingRulesOf(settings);
  const interrupts = new Interrupts(() => [LEFT]).endInTime();
  const { signal } = interrupts;
  try {
    const name = 'trawl dlq replay';
    const connect = () => connectForReplay({ settings, log, name, signal });
    const { stores, letters } = await namingLocal(context, whoseLetters(options), connect);
    try {
      const { frontier, runs, marks } = stores;
      const parts = {
        frontier,
        runs,
        marks,
        rules,
        clock: systemClock,
        filter,
        limit,
        isDry,
        signal,
      };
      const replayed = await withTally({ ...context, signal }, { what: LETTERS_READ }, (tally) =>
        new Replayer({ ...parts, letters: talliedLetters(letters, tally), defaults, overrides }).replay(),
      );
      tellResult(replayed, options, context);
    } catch (error: unknown) {
      tellIfLost(error, context);
      throw error;
    } finally {
      await letters.stop();
      stores.close();
    }
  } finally {
    interrupts.close();
  }
  if (interrupts.by === undefined) return 0;
  say(`Interrupted: ${LEFT}`);
  return EXIT_INTERRUPTED;
}

/** Returns the run options that were given as flags. */
function overridesOf(options: ReplayOptions, settings: RunOptions): Partial<RunOptions> {
  // Commander names a flag's option like its setting.
  const given = Object.entries(RUN_OPTION_OF).filter(([key]) => options[key] !== undefined);
  const overrides = Object.fromEntries(given.map(([, option]) => [option, settings[option]]));
  return {
    ...overrides,
    ...(options.crawler === undefined || settings.version === undefined ? {} : { version: settings.version }),
    ...(options.maxDepth === undefined ? {} : { hasDefaultDepth: settings.hasDefaultDepth ?? false }),
    // An age implies an incremental run.
    ...(options.recrawlAfter === undefined ? {} : { incremental: settings.incremental }),
  };
}

function tellResult(replayed: ReplayResult, { dryRun = false, run }: ReplayOptions, context: Context): void {
  const runs = replayed.runs.flatMap((run) => runLines(run, dryRun));
  const lines = replayedLines(runs, replayed, `${TRAWL} dlq list`, dryRun);
  tell(context, replayJson(replayed, dryRun), lines);
  if (replayed.runs.length + replayed.undelivered === 0 && !context.json) say(lettersGone(run));
}

function runLines(replayed: ReplayTally, dryRun: boolean): string[] {
  const { run, origin, options, isJoined, isForgotten, letters, ofGroups, accepted, known } = replayed;
  const { crawler, intervalMs, maxAttempts } = options;
  const rate = intervalMs > 0 ? pace(intervalMs) : 'no rate limit';
  const how = `crawler ${crawler}, ${rate}, ${counted(maxAttempts, 'attempt')}`;
  const told = dryRun
    ? `${counted(letters, 'letter')} of run ${origin} would be replayed (${how})`
    : `${counted(letters, 'letter')} of run ${origin} replayed: ${count(accepted)} taken, ${count(known)} known already (${how})`;
  return [
    `Run ${run}: ${told}`,
    ...ofOwners(ofGroups, dryRun),
    ...(isJoined ? ['  It was begun by an interrupted replay, and keeps the options of that replay.'] : []),
    ...(isForgotten ? [`  Redis has forgotten run ${origin}: the options are those of this command's settings.`] : []),
    ...(dryRun ? [] : [`  Progress: ${TRAWL} status ${run} --watch`]),
  ];
}
