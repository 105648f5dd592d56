import { wellFormedJson } from '../../runtime/printable.ts';

/**
 * What would end a cell, in this separator or in another that a spreadsheet may expect, and what would begin a formula.
 * Quotes keep a cell whole; the text in it stays what it was, so a program that runs formulas still runs this one.
 */
const NEEDS_QUOTES = /^[=+\-@]|[",;|\t\r\n]/;

/** No cell holds it by RFC 4180: pandas and SQLite end the text there. */
const NUL = '\0';

/** Values as a line of CSV (RFC 4180). Objects and lists are JSON in one cell; what is missing is an empty one. */
export function csvLine(values: readonly unknown[]): string {
  const line = values.map(cell).join(',');
  // Readers skip an empty line: the only cell of a row would be no row.
  return values.length === 1 && line.trim() === '' ? `"${line}"\r\n` : `${line}\r\n`;
}

function cell(value: unknown): string {
  if (value === undefined || value === null) return '';
  const written = typeof value === 'object' ? wellFormedJson(JSON.stringify(value)) : String(value);
  const text = written.includes(NUL) ? written.replaceAll(NUL, '\ufffd') : written;
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
