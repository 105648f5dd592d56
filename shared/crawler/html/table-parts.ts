import type { OpenElements } from './open-elements.ts';
import { TABLE, TEMPLATE } from './tag-codes.ts';
import { classesOf, TABLE_PART, TABLE_SCOPE, type TagCode, tagCode } from './tags.ts';

const CAPTION = tagCode('caption');
export const COL = tagCode('col');
export const COLGROUP = tagCode('colgroup');
export const TBODY = tagCode('tbody');
const TD = tagCode('td');
const TH = tagCode('th');
export const TR = tagCode('tr');

/** Returns whether the innermost part of a table contains only other parts, as a row does. */
export function isInTable(open: OpenElements): boolean {
  const index = innermost(open);
  const around = open.codeAt(index);
  return index > 0 && around !== TEMPLATE && !holdsText(around);
}

/** Closes a table if another one begins directly inside it. */
export function closeOpenTable(open: OpenElements): void {
  while (isInTable(open)) {
    const index = open.indexOf(TABLE, TABLE_SCOPE);
    if (index === 0) return;
    open.popFrom(index);
  }
}

/** Opens a part of a table: closes the parts that can't contain it, and opens the missing ones around it. */
export function startTablePart(open: OpenElements, code: TagCode): void {
  for (let index = innermost(open); index > 0; index = innermost(open)) {
    const around = open.codeAt(index);
    const missing = around === TEMPLATE ? [] : between(around, code);
    if (missing === undefined) {
      open.popFrom(index);
    } else {
      if (around !== TEMPLATE) open.popFrom(index + 1);
      for (const part of [...missing, code]) if (part !== COL) open.push(part, classesOf(part));
      return;
    }
  }
}

function innermost(open: OpenElements): number {
  return open.indexOfClass(TABLE_PART | TABLE_SCOPE, 0);
}

function holdsText(part: TagCode): boolean {
  return part === TD || part === TH || part === CAPTION;
}

/** Returns the parts needed between a part of a table and another inside it; undefined if it can't be inside. */
export function between(around: TagCode, code: TagCode): readonly TagCode[] | undefined {
  const isCell = code === TD || code === TH;
  switch (around) {
    case TABLE:
      if (isCell) return [TBODY, TR];
      if (code === TR) return [TBODY];
      return code === COL ? [COLGROUP] : [];
    case TR:
      return isCell ? [] : undefined;
    case COLGROUP:
      return code === COL ? [] : undefined;
    case TD:
    case TH:
    case CAPTION:
      return undefined;
    default:
      if (isCell) return [TR];
      return code === TR ? [] : undefined;
  }
}
