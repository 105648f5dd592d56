import { extname } from 'node:path';
import { type Command, Option } from 'commander';
import { readColumns } from '../../../shared/control/table/columns.ts';
import { readCondition } from '../../../shared/control/table/condition.ts';
import { readPath } from '../../../shared/control/table/field-path.ts';
import type { TableQuery } from '../../../shared/control/table/table-query.ts';
import { UsageError } from '../../../shared/runtime/errors.ts';
import { HEADINGS } from '../help/flags.ts';
import { expectWritable, STANDARD_STREAM } from '../text/line-output.ts';
import { type ListLine, readList } from './list-lines.ts';
import { TABLE_FORMATS, type TableFormat } from './row-format.ts';

/** The flags of a table, as given. */
export interface TableOptions {
  readonly failed?: boolean;
  readonly skipped?: boolean;
  readonly all?: boolean;
  readonly step?: string;
  readonly empty?: boolean;
  readonly each?: string;
  readonly where?: readonly string[];
  readonly fields?: string;
  readonly format?: string;
  readonly bom?: boolean;
  readonly join?: string;
  readonly output?: string;
}

/** All but the file. */
export const TABLE_FLAGS = [
  'format',
  'fields',
  'step',
  'each',
  'empty',
  'where',
  'failed',
  'skipped',
  'all',
  'join',
  'bom',
] as const satisfies readonly (keyof TableOptions)[];

/** A table that is to be written: all that can be known before a record is read. */
export interface TablePlan {
  readonly query: TableQuery;
  readonly format: TableFormat;
  readonly hasMark: boolean;
  /** Left out: standard output. */
  readonly path?: string;
  /** The list that it has a row for each line of. */
  readonly list?: readonly ListLine[];
}

/** Adds the flags of a table to a command. @param isBrief most of them are for `--help --all` */
export function addTableOptions(command: Command, { isBrief = false }: { readonly isBrief?: boolean } = {}): Command {
  const repeated = (value: string, earlier: readonly string[] = []): readonly string[] => [...earlier, value];
  const add = (flags: string, help: string, isHidden = isBrief): Option => {
    const option = new Option(flags, help).helpGroup(HEADINGS.output).hideHelp(isHidden);
    command.addOption(option);
    return option;
  };
  add('-o, --output <file>', 'write the records to a file; - is standard output', false);
  add('--format <format>', "jsonl, json or csv [by the file's ending, else jsonl]", false);
  add('--fields <columns>', 'only these columns: title,Price=offers[0].price', false);
  add('--step <name>', 'only the records of this step of the crawler');
  add('--each <path>', 'a row for each element of this list in the data; . is the data themselves');
  add('--where <condition>', 'only rows with status=200,301 or price!= (repeated: all must hold)').argParser(repeated);
  add('--failed', 'the failures instead of the pages');
  add('--skipped', 'what was skipped instead of the pages');
  add('--all', 'pages, failures and what was skipped');
  add('--empty', 'also pages on which a step found nothing');
  add('--join <list>', 'a row for each line of this list of URLs, in its order; - is standard input');
  add('--bom', 'begin CSV with a byte order mark, for Excel');
  return command;
}

/**
 * Reads the flags of a table, and its list, and checks that its file can be written.
 *
 * @throws UsageError for the first flag that is wrong; StorageError for a file that can't be read or written
 */
export async function planTable(options: TableOptions): Promise<TablePlan> {
  const { output, bom = false, join } = options;
  const [format, query] = [readFormat(options), readQuery(options)];
  if (bom && format !== 'csv') throw new UsageError(`--bom is for CSV, and the format is ${format}: --format csv`);
  if (output !== undefined) await expectWritable(output);
  const list = join === undefined ? {} : { list: await readList(join) };
  const path = output === undefined || output === STANDARD_STREAM ? {} : { path: output };
  return { query, format, hasMark: bom, ...path, ...list };
}

function readFormat({ format, output = STANDARD_STREAM }: TableOptions): TableFormat {
  const ending = extname(output).slice(1).toLowerCase();
  const wanted = format ?? (ending === '' ? 'jsonl' : ending);
  const found = TABLE_FORMATS.find((each) => each === wanted);
  if (found !== undefined) return found;
  if (format !== undefined) throw new UsageError(`expected --format to be jsonl, json or csv, got "${format}"`);
  throw new UsageError(`expected -o to end in .jsonl, .json or .csv, got "${output}": say which with --format`);
}

function readQuery(options: TableOptions): TableQuery {
  const { failed, skipped, all, step, empty = false, each, where = [], fields, join } = options;
  const asked = Object.entries({ failed, skipped, all }).filter(([, isAsked]) => isAsked === true);
  if (asked.length > 1)
    throw new UsageError(
      `expected one of --failed, --skipped and --all, got ${asked.map(([name]) => `--${name}`).join(' and ')}`,
    );
  // A list has a row for each line, whatever became of it.
  const isAll = all === true || (join !== undefined && asked.length === 0);
  return {
    ...(isAll ? {} : { outcome: failed === true ? 'failed' : skipped === true ? 'skipped' : 'done' }),
    ...(step === undefined ? {} : { step }),
    ...(empty || join !== undefined ? { hasEmpty: true } : {}),
    ...(each === undefined ? {} : { each: readPath(each, '--each') }),
    where: where.map(readCondition),
    ...(fields === undefined ? {} : { columns: readColumns(fields) }),
  };
}
