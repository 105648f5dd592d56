import { extname } from 'node:path';
import { readColumns } from '../../../shared/control/table/columns.ts';
import { readCondition } from '../../../shared/control/table/condition.ts';
import { readPath } from '../../../shared/control/table/field-path.ts';
import { TABLE_FORMATS, type TableFormat } from '../../../shared/control/table/row-format.ts';
import type { RowWindowOptions } from '../../../shared/control/table/row-window.ts';
import type { TableQuery } from '../../../shared/control/table/table-query.ts';
import { UsageError } from '../../../shared/runtime/errors.ts';
import { expectWritable, STANDARD_STREAM } from '../text/line-output.ts';
import { JoinedList } from './joined-list.ts';
import { readList } from './list-lines.ts';
import type { TableOptions } from './table-flags.ts';

/** A table to be written, as far as it is known before any record is read. */
export interface TablePlan {
  readonly query: TableQuery;
  /** The rows to write; absent for all of them. */
  readonly window?: RowWindowOptions;
  readonly format: TableFormat;
  readonly hasMark: boolean;
  /** The file; absent for standard output. */
  readonly path?: string;
  /** The list, if the table has a row for each of its lines. */
  readonly list?: JoinedList;
}

/**
 * Reads the flags of a table and its list, and checks that its file can be written.
 *
 * @throws UsageError for the first wrong flag; StorageError for a file that can't be read or written
 */
export async function planTable(options: TableOptions): Promise<TablePlan> {
  const { output, bom = false, join } = options;
  const format = readFormat(options);
  const query = readQuery(options, format);
  if (bom && format !== 'csv') throw new UsageError(`--bom is for CSV, and the format is ${format}: --format csv`);
  if (output === '' || output?.endsWith('/') === true)
    throw new UsageError(`expected -o to name a file, got "${output}"`);
  if (output !== undefined) await expectWritable(output);
  const list = join === undefined ? {} : { list: await JoinedList.of(readList(join)) };
  const path = output === undefined || output === STANDARD_STREAM ? {} : { path: output };
  return { query, format, hasMark: bom, ...path, ...list };
}

function readFormat({ format, output = STANDARD_STREAM }: TableOptions): TableFormat {
  const ending = extname(output).slice(1).toLowerCase();
  const wanted = format ?? (ending === '' ? 'jsonl' : ending);
  const found = TABLE_FORMATS.find((each) => each === wanted);
  if (found !== undefined) return found;
  if (format !== undefined) throw new UsageError(`expected --format to be jsonl, json or csv, got "${format}"`);
  throw new UsageError(`expected -o to end in .jsonl, .json or .csv, got "${output}": name the format with --format`);
}

function readQuery(options: TableOptions, format: TableFormat): TableQuery {
  const { failed, skipped, all, step, empty = false, each, where = [], fields, join } = options;
  const asked = Object.entries({ failed, skipped, all }).filter(([, isAsked]) => isAsked === true);
  if (asked.length > 1)
    throw new UsageError(
      `expected one of --failed, --skipped and --all, got ${asked.map(([name]) => `--${name}`).join(' and ')}`,
    );
  // A list has a row for each line, whatever its outcome.
  const isAll = all === true || (join !== undefined && asked.length === 0);
  return {
    ...(isAll ? {} : { outcome: failed === true ? 'failed' : skipped === true ? 'skipped' : 'done' }),
    ...(step === undefined ? {} : { step }),
    ...(empty || join !== undefined ? { hasEmpty: true } : {}),
    ...(each === undefined ? {} : { each: readPath(each, '--each') }),
    // A line of JSON is one record as stored, and a joined table has one row for each line of its list.
    isRowPerItem: join === undefined && (format === 'csv' || fields !== undefined),
    where: where.map(readCondition),
    ...(fields === undefined ? {} : { columns: readColumns(fields) }),
  };
}
