import type { RunProgress } from '../../../shared/ports/runs.ts';
import { UsageError } from '../../../shared/runtime/errors.ts';
import { quoted } from '../../../shared/runtime/started-as.ts';
import type { Context } from '../command.ts';
import type { CrawlOptions } from '../process/plan-crawl.ts';
import { STANDARD_STREAM } from '../text/line-output.ts';
import { TABLE_FLAGS, type TableOptions } from './table-flags.ts';
import type { TablePlan } from './table-plan.ts';

/**
 * Plans the table that a crawl writes at its end; undefined if none was asked for.
 *
 * @throws UsageError for wrong flags, StorageError for a file that can't be written; both before anything is crawled
 */
export async function planTableOfCrawl(
  texts: readonly string[],
  options: CrawlOptions & TableOptions,
  { json }: Context,
): Promise<TablePlan | undefined> {
  const { join, output, urlsFile = [], resume } = options;
  if (output === undefined) {
    const given = TABLE_FLAGS.find((name) => options[name] !== undefined);
    if (given === undefined) return undefined;
    throw new UsageError(`--${given} is for a table: name its file with -o, for example -o items.csv`);
  }
  if (json && output === STANDARD_STREAM)
    throw new UsageError('--json and -o - both write to standard output: name a file with -o');
  if (join === STANDARD_STREAM && [...texts, ...urlsFile, resume].includes(STANDARD_STREAM))
    throw new UsageError('standard input is already the list of URLs to crawl: name a file with --join');
  // Only a crawl that writes a table loads the code for it.
  const { planTable } = await import('./table-plan.ts');
  return await planTable(options);
}

/** Writes the table of a crawl's records so far, whether or not the crawl has ended. */
export async function writeTableOf(
  { run, options }: RunProgress,
  table: TablePlan | undefined,
  context: Context,
): Promise<void> {
  if (table === undefined) return;
  const { withRecords } = await import('../process/with-archives.ts');
  const { writeTable } = await import('./record-table.ts');
  const { columnsOfStep } = await import('./step-columns.ts');
  await withRecords({ ...context, name: 'trawl crawl' }, (source) =>
    writeTable(table, {
      source,
      run,
      context,
      rules: options.urlKey,
      columnsOf: (step) => columnsOfStep(step, context.settings.crawler, context.settings),
    }),
  );
}

/** The flags of a table, to be given again when its crawl is resumed. */
export function tableFlags(options: TableOptions): string {
  if (options.output === undefined) return '';
  const flags = TABLE_FLAGS.flatMap((name) => {
    const values = [options[name] ?? []].flat();
    return values.map((value) => (value === true ? ` --${name}` : ` --${name} ${quoted(String(value))}`));
  });
  return ` -o ${quoted(options.output)}${flags.join('')}`;
}
