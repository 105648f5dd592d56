import { connectForReplay } from '../../../shared/backends/backends.ts';
import { count, pace } from '../../../shared/control/format.ts';
import { RUN_OPTION_OF, runOptionsOf } from '../../../shared/control/run-options.ts';
import { loadCrawler } from '../../../shared/crawler/load.ts';
import type { RunOptions } from '../../../shared/ports/runs.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { type Replayed, type ReplayedRun, Replayer } from '../../producer/replayer.ts';
import type { Context } from '../command.ts';
import { EXIT_INTERRUPTED, Interrupts } from '../process/interrupts.ts';
import { tellIfLost } from '../process/lost-run.ts';
import { routingRulesOf } from '../process/routing-rules.ts';
import { tell } from '../process/with-stores.ts';
import { say } from '../text/output.ts';
import { type FilterOptions, readFilter, readLimit } from './dlq-filter.ts';

export interface ReplayOptions extends FilterOptions {
  readonly dryRun?: boolean;
  /** Flags of the settings that a run is opened with; those that were given go before the origin's options. */
  readonly [flag: string]: unknown;
}

/** `trawl dlq replay`: offers letters again, as new runs. */
export async function replayLetters(options: ReplayOptions, context: Context): Promise<number> {
  const { settings, log } = context;
  const isDry = options.dryRun === true;
  const [filter, limit] = [readFilter(options), readLimit(options)];
  const defaults = runOptionsOf(settings, 'ever');
  const overrides = overridesOf(options, defaults);
  if (overrides.crawler !== undefined) await loadCrawler(overrides.crawler);
  const rules = await routingRulesOf(settings);
  const interrupts = new Interrupts();
  const { signal } = interrupts;
  try {
    const { stores, letters } = await connectForReplay({ settings, log, name: 'trawl dlq replay', signal });
    try {
      const { frontier, runs, marks } = stores;
      const parts = {
        letters,
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
      const replayed = await new Replayer({ ...parts, defaults, overrides }).replay();
      tellReplayed(replayed, isDry, context);
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
  say('Interrupted: the letters not offered yet are still there. Go on with the same command.');
  return EXIT_INTERRUPTED;
}

/** The run options whose flags were given. */
function overridesOf(options: ReplayOptions, settings: RunOptions): Partial<RunOptions> {
  // A setting's flag is called as the setting, by commander.
  const given = Object.entries(RUN_OPTION_OF).filter(([key]) => options[key] !== undefined);
  const overrides = Object.fromEntries(given.map(([, option]) => [option, settings[option]]));
  // Who names an age means an incremental run.
  return options.recrawlAfter === undefined ? overrides : { ...overrides, incremental: settings.incremental };
}

function tellReplayed({ runs, malformed }: Replayed, dryRun: boolean, context: Context): void {
  const document = {
    run: runs.length === 1 ? runs[0]?.run : null,
    runs: runs.map(({ run, origin, options, isJoined, isForgotten, letters, accepted, known }) => {
      return { run, origin, letters, accepted, known, joined: isJoined, originForgotten: isForgotten, options };
    }),
    letters: runs.reduce((sum, { letters }) => sum + letters, 0),
    malformed,
    dryRun,
  };
  const lines = runs.flatMap((run) => runLines(run, dryRun));
  if (runs.length === 0) lines.push('No dead letters to replay.');
  if (malformed > 0)
    lines.push(
      `${count(malformed)} malformed letters can't be replayed: they stay (trawl dlq list --reason malformed)`,
    );
  if (dryRun) lines.push('Nothing was changed.');
  tell(context, document, lines);
}

function runLines(replayed: ReplayedRun, dryRun: boolean): string[] {
  const { run, origin, options, isJoined, isForgotten, letters, accepted, known } = replayed;
  const { crawler, intervalMs, maxAttempts } = options;
  const rate = intervalMs > 0 ? pace(intervalMs) : 'no limit';
  const how = `crawler ${crawler}, ${rate}, ${maxAttempts} attempts`;
  const told = dryRun
    ? `${count(letters)} letters of run ${origin} would be replayed (${how})`
    : `${count(letters)} letters of run ${origin} replayed: ${count(accepted)} taken, ${count(known)} known already (${how})`;
  return [
    `Run ${run}: ${told}`,
    ...(isJoined ? ['  It was begun by a replay that was interrupted, and keeps the options of that.'] : []),
    ...(isForgotten ? [`  Redis has forgotten run ${origin}: the options are this process' own.`] : []),
    ...(dryRun ? [] : [`  Progress: trawl status ${run} --watch`]),
  ];
}
