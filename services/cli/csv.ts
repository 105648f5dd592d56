import type { PageRecord } from '../../shared/record.ts';

const COLUMNS = [
  'url',
  'finalUrl',
  'outcome',
  'reason',
  'status',
  'title',
  'contentType',
  'bytes',
  'fetchedAt',
  'durationMs',
  'attempt',
  'depth',
  'fromCache',
  'unchanged',
  'contentHash',
  'task',
  'data',
] as const;

/** The first line of a CSV file of records (RFC 4180). */
export const CSV_HEADER = `${COLUMNS.join(',')}\r\n`;

/** A record as a line of CSV; its `data` as JSON in one cell. */
export function csvLine(record: PageRecord): string {
  const fields = record as unknown as Readonly<Record<string, unknown>>;
  return `${COLUMNS.map((name) => cell(fields[name])).join(',')}\r\n`;
}

function cell(value: unknown): string {
  if (value === undefined || value === null) return '';
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  // A spreadsheet would run a cell that begins like a formula.
  const safe = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
