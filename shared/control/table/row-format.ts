import { printable, printableJson } from '../../runtime/printable.ts';
import type { Column } from './columns.ts';
import { csvLine } from './csv.ts';
import { type Row, valueAt } from './field-path.ts';
import type { TableReader } from './table-query.ts';

export const TABLE_FORMATS = ['jsonl', 'json', 'csv'] as const;
export type TableFormat = (typeof TABLE_FORMATS)[number];

/** A byte order mark, by which Excel recognises UTF-8. */
const MARK = '\ufeff';

/** A format in which rows are written. */
export interface RowFormat {
  readonly begin: string;
  /** @param index from 0 */
  line(row: Row, index: number): string;
  readonly end: string;
}

interface RowFormatOptions {
  readonly reader: TableReader;
  readonly hasMark: boolean;
  /** The output goes to a terminal, so CSV is made printable. Elsewhere it is data, and left unchanged. */
  readonly isShown: boolean;
}

/** Returns a format for the rows of a table. CSV has the columns that the reader knows at this point. */
export function rowFormat(format: TableFormat, { reader, hasMark, isShown }: RowFormatOptions): RowFormat {
  if (format === 'jsonl')
    return { begin: '', line: (row) => `${printableJson(JSON.stringify(reader.jsonOf(row)))}\n`, end: '' };
  if (format === 'json') {
    const line = (row: Row, index: number): string =>
      `${index === 0 ? '' : ',\n'}${printableJson(JSON.stringify(reader.jsonOf(row)))}`;
    return { begin: '[\n', line, end: '\n]\n' };
  }
  const { columns } = reader;
  const written = isShown ? (line: string): string => `${printable(line.trimEnd())}\n` : (line: string): string => line;
  const begin = written(csvLine(columns.map(({ header }) => header)));
  return { begin: (hasMark ? MARK : '') + begin, line: (row) => written(csvRow(row, columns)), end: '' };
}

function csvRow(row: Row, columns: readonly Column[]): string {
  const { truncated } = row.record;
  const shown = Array.isArray(truncated) ? { ...row, record: { ...row.record, truncated: truncated.join(' ') } } : row;
  return csvLine(columns.map(({ path }) => valueAt(shown, path)));
}
