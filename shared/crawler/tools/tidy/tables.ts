import { between, COLGROUP, TBODY, TR } from '../../html/table-parts.ts';
import { TABLE } from '../../html/tag-codes.ts';
import { type TagCode, tagCode } from '../../html/tags.ts';

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
  return HOLDS_PARTS.has(around) ? between(around, part) : undefined;
}

/** May a part of a table be around another? */
export function isAround(outer: TagCode, inner: TagCode): boolean {
  if (outer === TABLE) return true;
  if (ROW_GROUPS.has(outer)) return inner === TR || CELLS.has(inner);
  return outer === TR && CELLS.has(inner);
}
