import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { Command } from 'commander';
import { UsageError } from '../../shared/errors.ts';
import type { PageRecord } from '../../shared/record.ts';
import { openRecords, recordsPlaceOf } from '../../shared/record-backends.ts';
import type { RecordSource } from '../../shared/sink.ts';
import { addCommonOptions, type CommandModule, type Context, withContext } from './command.ts';
import { CSV_HEADER, csvLine } from './csv.ts';
import { count } from './format.ts';

interface RecordsOptions {
  readonly format: string;
  readonly output?: string;
  readonly failed?: boolean;
}

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

async function records(run: string, options: RecordsOptions, { settings, log }: Context): Promise<number> {
  const { format } = options;
  if (format !== 'jsonl' && format !== 'csv')
    throw new UsageError(`expected --format to be jsonl or csv, got "${format}"`);
  const source = await openRecords({ settings, log, name: 'trawl records' });
  try {
    if (await source.has(run)) {
      await print(source, run, options);
      return 0;
    }
    const others = await source.runs();
    const there = others.length === 0 ? 'there are none at all' : `there are ${others.slice(-10).join(', ')}`;
    const setting = settings.sink === undefined ? 'OUTPUT_DIR' : 'SINK';
    process.stderr.write(`trawl: no records of run ${run} in ${recordsPlaceOf(settings)}; ${there} (${setting})\n`);
    return 1;
  } finally {
    await source.close();
  }
}

async function print(source: RecordSource, run: string, options: RecordsOptions): Promise<void> {
  const { format, output, failed = false } = options;
  const stream = output === undefined ? process.stdout : createWriteStream(output);
  const line = format === 'csv' ? csvLine : (record: PageRecord): string => `${JSON.stringify(record)}\n`;
  if (format === 'csv') await write(stream, CSV_HEADER);
  let written = 0;
  for await (const record of source.read(run)) {
    if (record.outcome !== (failed ? 'failed' : 'done')) continue;
    await write(stream, line(record));
    written++;
  }
  if (output !== undefined) {
    stream.end();
    await finished(stream);
    process.stderr.write(`${count(written)} ${failed ? 'failures' : 'records'} written to ${output}\n`);
  }
}

async function write(stream: Writable, text: string): Promise<void> {
  if (!stream.write(text)) await once(stream, 'drain');
}
