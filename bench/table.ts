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

/**
 * Adds to a row whether its bound is met: `≥ 90` becomes `≥ 90 met` or `≥ 90 MISSED`. Compares the median as printed, or the ratio if
 * the bound begins with `ratio`.
 */
export function judged([label, figure, must, ratio]: Row): Row {
  const [, of, sign, bound] = /^(ratio )?([≤≥]) ([\d .]+)$/.exec(must) ?? [];
  if (bound === undefined) return [label, figure, must, ratio];
  const [is, limit] = [of === undefined ? figure : ratio, bound].map(numberOf) as [number, number];
  const isMet = sign === '≥' ? is >= limit : is <= limit;
  return [label, figure, `${must} ${isMet ? 'met' : 'MISSED'}`, ratio];
}

/** Returns the first number of a figure like `2 750 (2 700–2 810)`. */
function numberOf(text: string): number {
  return Number.parseFloat(text.replaceAll(' ', ''));
}
