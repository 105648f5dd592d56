import { between, COLGROUP, TBODY, TR } from '../../html/table-parts.ts';
import { TABLE } from '../../html/tag-codes.ts';
import { type TagCode, tagCode } from '../../html/tags.ts';

const ROW_GROUPS = new Set(['tbody', 'tfoot', 'thead'].map(tagCode));
const CELLS = new Set(['td', 'th'].map(tagCode));
/** The elements that contain only parts of a table. */
export const HOLDS_PARTS = new Set([COLGROUP, TABLE, TR, ...ROW_GROUPS]);
/** The names of parts whose tags a page can leave out. */
export const IMPLIED_PARTS = new Map([
  [COLGROUP, 'colgroup'],
  [TBODY, 'tbody'],
  [TR, 'tr'],
]);

/** Returns the parts to add between an open element and a new part of a table; undefined if the open element must be closed first. */
export function missingBetween(around: TagCode, part: TagCode): readonly TagCode[] | undefined {
  return HOLDS_PARTS.has(around) ? between(around, part) : undefined;
}

/** Returns whether one part of a table can contain another. */
export function isAround(outer: TagCode, inner: TagCode): boolean {
  if (outer === TABLE) return true;
  if (ROW_GROUPS.has(outer)) return inner === TR || CELLS.has(inner);
  return outer === TR && CELLS.has(inner);
}
