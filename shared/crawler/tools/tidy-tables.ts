import { type TagCode, tagCode } from '../html/tags.ts';

export const COL = tagCode('col');
export const COLGROUP = tagCode('colgroup');
export const TABLE = tagCode('table');
const TBODY = tagCode('tbody');
const TR = tagCode('tr');

const ROW_GROUPS = new Set(['tbody', 'tfoot', 'thead'].map(tagCode));
const CELLS = new Set(['td', 'th'].map(tagCode));
/** What holds parts of a table, and nothing else. */
export const HOLDS_PARTS = new Set([COLGROUP, TABLE, TR, ...ROW_GROUPS]);
/** The names of parts that a table may leave out. */
export const IMPLIED_PARTS = new Map([
  [COLGROUP, 'colgroup'],
  [TBODY, 'tbody'],
  [TR, 'tr'],
]);

/** What a part of a table needs around it: the parts that must be added between, or nothing if what is open must first be closed. */
export function missingBetween(around: TagCode, part: TagCode): readonly TagCode[] | undefined {
  const isCell = CELLS.has(part);
  if (around === TABLE) {
    if (isCell) return [TBODY, TR];
    if (part === TR) return [TBODY];
    return part === COL ? [COLGROUP] : [];
  }
  if (around === TR) return isCell ? [] : undefined;
  if (around === COLGROUP) return part === COL ? [] : undefined;
  if (!ROW_GROUPS.has(around)) return undefined;
  if (isCell) return [TR];
  return part === TR ? [] : undefined;
}

/** May a part of a table be around another? */
export function isAround(outer: TagCode, inner: TagCode): boolean {
  if (outer === TABLE) return true;
  if (ROW_GROUPS.has(outer)) return inner === TR || CELLS.has(inner);
  return outer === TR && CELLS.has(inner);
}
