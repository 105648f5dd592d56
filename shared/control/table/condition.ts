import { UsageError } from '../../runtime/errors.ts';
import { type NamedPath, PATH_EXAMPLES, parsePath, type Row, valueAt } from './field-path.ts';

/** A condition on a row: `status=404,410`, `price!=`. */
export interface Condition extends NamedPath {
  /** The condition is `!=`: none of the values matches. */
  readonly isNegated: boolean;
  /** Values of which any may match. An empty text stands for a missing value. */
  readonly values: readonly string[];
}

/** Reads a condition. @throws UsageError if the text is not one */
export function readCondition(text: string): Condition {
  const sign = text.indexOf('=');
  const isNegated = text[sign - 1] === '!';
  const written = text.slice(0, isNegated ? sign - 1 : Math.max(0, sign)).trim();
  const path = parsePath(written);
  if (path === undefined)
    throw new UsageError(
      `expected --where to be a condition like status=404,410 or price!= on a path like ${PATH_EXAMPLES}, got "${text}"`,
    );
  const values = text.slice(sign + 1).split(',');
  return { flag: '--where', text: written, path, isNegated, values: values.map((value) => value.trim()) };
}

/**
 * Does a row meet a condition? Absent fields, null, empty texts and empty lists count as missing. Numbers are compared as numbers, and a
 * list matches if any of its elements does.
 */
export function holds({ path, isNegated, values }: Condition, row: Row): boolean {
  const value = valueAt(row, path);
  const elements = Array.isArray(value) ? value : [value];
  const isAny = values.some((wanted) =>
    wanted === '' ? elements.every(isMissing) : elements.some((element) => !isMissing(element) && is(element, wanted)),
  );
  return isAny !== isNegated;
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

function is(value: unknown, wanted: string): boolean {
  if (typeof value === 'number') return value === Number(wanted);
  return (typeof value === 'object' ? JSON.stringify(value) : String(value)) === wanted;
}
