import { wellFormedJson } from '../../runtime/printable.ts';

/**
 * Text that would end a cell, by our separator or by another that a spreadsheet may expect, or that would start a formula. Quotes keep the
 * cell whole, but its text is unchanged, so a program that runs formulas still runs it.
 */
const NEEDS_QUOTES = /^[=+\-@]|[",;|\t\r\n]/;

/** Not allowed in a cell by RFC 4180. Pandas and SQLite end the text at it. */
const NUL = '\0';

/** Formats values as a line of CSV (RFC 4180). An object or list becomes JSON in one cell, a missing value an empty cell. */
export function csvLine(values: readonly unknown[]): string {
  const line = values.map(cell).join(',');
  // Readers skip empty lines, and so would lose a row with a single empty cell.
  return values.length === 1 && line.trim() === '' ? `"${line}"\r\n` : `${line}\r\n`;
}

function cell(value: unknown): string {
  if (value === undefined || value === null) return '';
  const written = typeof value === 'object' ? wellFormedJson(JSON.stringify(value)) : String(value);
  const text = written.includes(NUL) ? written.replaceAll(NUL, '\ufffd') : written;
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
