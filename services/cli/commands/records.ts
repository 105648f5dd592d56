import { type Command, Option } from 'commander';
import { openLocalRuns } from '../../../shared/backends/embedded.ts';
import { recordsPlaceOf, sinkPlaceOf } from '../../../shared/backends/sinks.ts';
import { readRunId } from '../../../shared/control/run-id.ts';
import type { LocalRunView } from '../../../shared/ports/local-runs.ts';
import type { RunOptions } from '../../../shared/ports/runs.ts';
import type { RecordSource } from '../../../shared/ports/sink.ts';
import { StorageError, UsageError } from '../../../shared/runtime/errors.ts';
import { TRAWL } from '../../../shared/runtime/started-as.ts';
import { integer } from '../../../shared/settings/parsers.ts';
import type { Settings } from '../../../shared/settings/table.ts';
import { addCommonOptions, type CommandModule, type Context, withContext } from '../command.ts';
import { HEADINGS } from '../help/flags.ts';
import { withRecords } from '../process/with-archives.ts';
import { writeTable } from '../tables/record-table.ts';
import { columnsOfStep } from '../tables/step-columns.ts';
import { addTableOptions, type TableOptions } from '../tables/table-flags.ts';
import { planTable } from '../tables/table-plan.ts';
import { say, sayFailure } from '../text/output.ts';

/** `trawl records [RUN]`: prints a run's merged records, one per page, or a table of them. */
export const command: CommandModule = {
  define(command: Command, exit) {
    addTableOptions(addCommonOptions(command, ['output']))
      .argument('[run]', 'a run id (default: the latest run)')
      .addOption(new Option('--limit <n>', 'at most n rows').helpGroup(HEADINGS.output))
      .addOption(new Option('--offset <n>', 'leave out the first n rows').helpGroup(HEADINGS.output))
      .action(async (run: string | undefined, options: RecordOptions) => {
        exit(await withContext(options, { logLevel: 'warn' }, (context) => records(run, options, context)));
      });
  },
};

interface RecordOptions extends TableOptions {
  readonly limit?: string;
  readonly offset?: string;
}

async function records(text: string | undefined, options: RecordOptions, context: Context): Promise<number> {
  const named = text === undefined ? undefined : readRunId(text);
  const window = { limit: readRows('--limit', options.limit, 1), offset: readRows('--offset', options.offset, 0) };
  const plan = { ...(await planTable(options)), window };
  const { settings } = context;
  return await withRecords({ ...context, name: 'trawl records' }, async (source) => {
    const run = named ?? (await source.last());
    if (run === undefined || !(await source.has(run))) return await sayNoRecords(source, run, settings);
    if (named === undefined) say(`Run ${run}, the latest`);
    const rules = plan.list === undefined ? undefined : await rulesOf(run, settings);
    const columnsOf = async (step: { readonly name: string; readonly crawler: unknown }) => {
      const local = await localRunOf(run, settings).catch(() => undefined);
      return await columnsOfStep(step, local?.beginning.crawler, settings);
    };
    await writeTable(plan, { source, run, rules, columnsOf, context });
    return 0;
  });
}

/** @throws UsageError if it isn't a whole number of at least `min` */
function readRows(flag: string, given: string | undefined, min: number): number | undefined {
  if (given === undefined) return undefined;
  const read = integer({ min, max: Number.MAX_SAFE_INTEGER })(given);
  if ('value' in read) return read.value;
  throw new UsageError(`expected ${flag} to be a whole number, from ${min}, got "${given}"`);
}

async function sayNoRecords(source: RecordSource, run: string | undefined, settings: Settings): Promise<1> {
  const place = recordsPlaceOf(settings);
  const setting = settings.sink === undefined ? 'OUTPUT_DIR' : 'SINK';
  const local = run === undefined ? undefined : await localRunOf(run, settings).catch(() => undefined);
  const sink = local?.beginning.sink;
  if (sink !== undefined && sink !== sinkPlaceOf(settings)) {
    sayFailure(`no records of run ${run} in ${place} (${setting}). They are in ${sink}: set SINK to that`);
    return 1;
  }
  const others = await source.runs();
  if (run !== undefined && others.includes(run)) {
    const why =
      local?.ended === undefined ? 'none of its pages has ended yet' : `it has ended; ${TRAWL} status ${run} says how`;
    sayFailure(`run ${run} has no records in ${place} (${setting}): ${why}`);
    return 1;
  }
  const there = others.length === 0 ? 'it has no runs' : `it has ${others.slice(-10).join(', ')}`;
  const what = run === undefined ? 'no records' : `no records of run ${run}`;
  sayFailure(`${what} in ${place}; ${there} (${setting})`);
  return 1;
}

/** Returns the `urlKey` rules that a crawl of this machine was begun with; those of the settings for any other run, or if it can't be read. */
async function rulesOf(run: string, settings: Settings): Promise<RunOptions['urlKey']> {
  try {
    return ((await localRunOf(run, settings))?.beginning.options ?? settings).urlKey;
  } catch (error: unknown) {
    if (!(error instanceof StorageError)) throw error;
    say(`trawl: ${error.message}. Joining the list by the URL_KEY of the settings`);
    return settings.urlKey;
  }
}

/** Reads a crawl of this machine; undefined for a run of the fleet. */
async function localRunOf(run: string, settings: Settings): Promise<LocalRunView | undefined> {
  const runs = await openLocalRuns(settings);
  try {
    return await runs.view(run);
  } finally {
    runs.close();
  }
}
