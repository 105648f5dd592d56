import type { Row } from './table.ts';

/**
 * Adds whether a row's bound is met: `≥ 90` becomes `≥ 90 met` or `≥ 90 MISSED`. The median is compared as printed, or the ratio if
 * the bound begins with `ratio`.
 */
export function judged([label, figure, must, ratio]: Row): Row {
  const [, of, sign, bound] = /^(ratio )?([≤≥]) ([\d .]+)$/.exec(must) ?? [];
  if (bound === undefined) return [label, figure, must, ratio];
  const [is, limit] = [of === undefined ? figure : ratio, bound].map(numberOf) as [number, number];
  const isMet = sign === '≥' ? is >= limit : is <= limit;
  return [label, figure, `${must} ${isMet ? 'met' : 'MISSED'}`, ratio];
}

/** The first number of a figure like `2 750 (2 700–2 810)`. */
function numberOf(text: string): number {
  return Number.parseFloat(text.replaceAll(' ', ''));
}
