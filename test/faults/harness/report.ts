import { readFileSync } from 'node:fs';
import type { RowResult } from './row.ts';

/** Returns the rows of a test run as a Markdown table, one line each. */
export function tableOf(file: string): string {
  const rows = new Map<string, RowResult[]>();
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    if (line === '') continue;
    const result = JSON.parse(line) as RowResult;
    rows.set(result.number, [...(rows.get(result.number) ?? []), result]);
  }
  const sorted = [...rows.values()].toSorted(([a], [b]) => orderOf(a) - orderOf(b));
  return ['| row | fault | verdict | rounds | recovery |', '|---|---|---|---|---|', ...sorted.map(lineOf), ''].join(
    '\n',
  );
}

function lineOf(results: readonly RowResult[]): string {
  const broken = results.filter(({ verdict }) => verdict === 'broken');
  const verdict = broken.length === 0 ? 'held' : `**broken** (seeds ${broken.map(({ seed }) => seed).join(', ')})`;
  const times = results.flatMap(({ recoveryMs }) => (recoveryMs === undefined ? [] : [recoveryMs]));
  const recovery = times.length === 0 ? '–' : `${(Math.max(...times) / 1_000).toFixed(1)} s`;
  const [first] = results;
  return `| ${first?.number} | ${first?.fault} | ${verdict} | ${results.length} | ${recovery} |`;
}

/** Sorts 9 before 9b, and rows without a number last. */
function orderOf(result: RowResult | undefined): number {
  const [, number = '1000', variant = ''] = /^(\d+)?(\w*)$/.exec(result?.number ?? '') ?? [];
  return Number(number) + (variant === '' ? 0 : 0.1 * (variant.charCodeAt(0) - 96));
}
