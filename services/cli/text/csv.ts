import type { PageRecord } from '../../../shared/ports/record.ts';

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
  'truncated',
  'contentHash',
  'task',
  'data',
] as const;

/** The first line of a CSV file of records (RFC 4180). */
export const CSV_HEADER = `${COLUMNS.join(',')}\r\n`;

/**
 * What would end a cell, in this separator or in another that a spreadsheet may expect, and what would begin a formula.
 * Quotes keep a cell whole; the text in it stays what it was, so a program that runs formulas still runs this one.
 */
const NEEDS_QUOTES = /^[=+\-@]|[",;|\t\r\n]/;

/** A record as a line of CSV; its `data` as JSON in one cell. */
export function csvLine(record: PageRecord): string {
  const truncated = record.outcome === 'done' ? record.truncated?.join(' ') : undefined;
  const fields: Readonly<Record<string, unknown>> = { ...record, truncated };
  return `${COLUMNS.map((name) => cell(fields[name])).join(',')}\r\n`;
}

function cell(value: unknown): string {
  if (value === undefined || value === null) return '';
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
