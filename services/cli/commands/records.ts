import type { Command } from 'commander';
import { openRecords, recordsPlaceOf } from '../../../shared/backends/sinks.ts';
import { count } from '../../../shared/control/format.ts';
import type { PageRecord } from '../../../shared/ports/record.ts';
import type { NoRecord, RecordSource } from '../../../shared/ports/sink.ts';
import { UsageError } from '../../../shared/runtime/errors.ts';
import { printable } from '../../../shared/runtime/printable.ts';
import { addCommonOptions, type CommandModule, type Context, withContext } from '../command.ts';
import { readRunId } from '../process/run-id.ts';
import { CSV_HEADER, csvLine } from '../text/csv.ts';
import { openLineOutput } from '../text/line-output.ts';
import { jsonLine, say, sayFailure } from '../text/output.ts';

interface RecordsOptions {
  readonly format: string;
  readonly output?: string;
  readonly failed?: boolean;
}

/** How many of the lines that aren't records are shown. */
const MOST_SHOWN = 3;

/** `trawl records RUN`: the merged records, one per page. */
export const command: CommandModule = {
  define(command: Command, exit) {
    addCommonOptions(command, ['output'])
      .argument('<run>', 'a run id')
      .option('--format <format>', 'jsonl or csv', 'jsonl')
      .option('-o, --output <file>', 'write to a file instead of standard output')
      .option('--failed', 'the failures instead of the pages')
      .action(async (run: string, options: RecordsOptions) => {
        exit(await withContext({ ...options }, { logLevel: 'warn' }, (context) => records(run, options, context)));
      });
  },
};

async function records(text: string, options: RecordsOptions, context: Context): Promise<number> {
  const { format } = options;
  if (format !== 'jsonl' && format !== 'csv')
    throw new UsageError(`expected --format to be jsonl or csv, got "${format}"`);
  const run = readRunId(text);
  const { settings } = context;
  const source = await openRecords({ ...context, name: 'trawl records' });
  try {
    if (await source.has(run)) {
      await printAll(source, run, options, context.signal);
      return 0;
    }
    const others = await source.runs();
    const there = others.length === 0 ? 'there are none at all' : `there are ${others.slice(-10).join(', ')}`;
    const setting = settings.sink === undefined ? 'OUTPUT_DIR' : 'SINK';
    sayFailure(`no records of run ${run} in ${recordsPlaceOf(settings)}; ${there} (${setting})`);
    return 1;
  } finally {
    await source.close();
  }
}

async function printAll(
  source: RecordSource,
  run: string,
  options: RecordsOptions,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { format, output: path, failed = false } = options;
  const output = await openLineOutput(path);
  const line = format === 'csv' ? csvLineFor(path) : jsonLine;
  let [written, leftOut] = [0, 0];
  const first: NoRecord[] = [];
  try {
    if (format === 'csv') await output.write(CSV_HEADER);
    const onNoRecord = (found: NoRecord): void => {
      if (++leftOut <= MOST_SHOWN) first.push(found);
    };
    for await (const record of source.read(run, onNoRecord)) {
      signal?.throwIfAborted();
      if (output.isOver) break;
      if (record.outcome !== (failed ? 'failed' : 'done')) continue;
      await output.write(line(record));
      written++;
    }
  } finally {
    await output.close();
  }
  if (path !== undefined) say(`${count(written)} ${failed ? 'failures' : 'records'} written to ${path}`);
  if (leftOut > 0) say(...leftOutLines(leftOut, first));
}

/** CSV is data and is left unchanged, except on a terminal. */
function csvLineFor(path: string | undefined): (record: PageRecord) => string {
  const isShown = path === undefined && process.stdout.isTTY;
  return isShown ? (record) => `${printable(csvLine(record).trimEnd())}\n` : csvLine;
}

function leftOutLines(leftOut: number, first: readonly NoRecord[]): string[] {
  const lines = first.map(({ file, line, begins }) => `  ${file}, line ${line}: ${begins}`);
  const more = leftOut > first.length ? [`  and ${count(leftOut - first.length)} more`] : [];
  return [`trawl: lines that are not records, and were left out: ${count(leftOut)}`, ...lines, ...more];
}
