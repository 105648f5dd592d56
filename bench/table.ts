/** Label, figure, target, ratio to the bare loop. */
export type Row = readonly [string, string, string, string];

/** Formats rows as a table that is also valid Markdown. */
export function tableOf(head: Row, rows: readonly Row[]): string {
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0)));
  const line = (row: Row): string =>
    `| ${row.map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join(' | ')} |\n`;
  const rule = `|${widths.map((width, column) => (column === 0 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|\n`;
  return line(head) + rule + rows.map(line).join('');
}
