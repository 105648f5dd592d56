import type { Row } from './table.ts';

/**
 * Adds to what a row must be whether it is: `≥ 90` becomes `≥ 90 met` or `≥ 90 MISSED`. Judged is the median as it is printed, or
 * the row's ratio if the text begins with `ratio`.
 */
export function judged([label, figure, must, ratio]: Row): Row {
  const [, of, sign, bound] = /^(ratio )?([≤≥]) ([\d .]+)$/.exec(must) ?? [];
  if (bound === undefined) return [label, figure, must, ratio];
  const [is, limit] = [of === undefined ? figure : ratio, bound].map(numberOf) as [number, number];
  const isMet = sign === '≥' ? is >= limit : is <= limit;
  return [label, figure, `${must} ${isMet ? 'met' : 'MISSED'}`, ratio];
}

/** The first number of a figure, `2 750 (2 700–2 810)`, whose thousands are set apart. */
function numberOf(text: string): number {
  return Number.parseFloat(text.replaceAll(' ', ''));
}
