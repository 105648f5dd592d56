import type { AnyNode, Element } from 'domhandler';
import { MAX_MARKDOWN_NODES } from '../../task/task/page-limits.ts';
import { elementsNamed, isElement } from '../tools/nodes.ts';
import { type Grid, gridOf } from '../tools/table.ts';

const TABLE: ReadonlySet<string> = new Set(['table']);
const CAPTION_OR_HEADER: ReadonlySet<string> = new Set(['caption', 'th']);
const PRE: ReadonlySet<string> = new Set(['pre']);

/**
 * Writes the tables of a page. Their cells have one limit for the whole page, since a few tags can span thousands of them. Beyond it,
 * tables lose their form, not their text.
 */
export class Tables {
  #cellsLeft = MAX_MARKDOWN_NODES;
  readonly #onCut: () => void;

  /** @param onCut called when rows of a table are left out */
  constructor(onCut: () => void) {
    this.#onCut = onCut;
  }

  /**
   * Returns a table for data as its caption, its tags and the content of its cells; undefined if it is for layout. Markdown has no spans, so a
   * cell that spans others is followed by empty ones. Markdown has no tables without a header either, so those get an empty one and keep
   * their first row.
   */
  partsOf(table: Element): readonly (AnyNode | string)[] | undefined {
    if (this.#cellsLeft <= 0 || isForLayout(table)) return undefined;
    const grid = gridOf(table, this.#cellsLeft);
    const width = grid.rows.reduce((widest, { length }) => Math.max(widest, length), 0);
    const shown = grid.rows.slice(0, this.#cellsLeft / width);
    this.#cellsLeft -= grid.isCut ? this.#cellsLeft : Math.max(1, shown.length) * width;
    if (!isForData(table, grid)) return undefined;
    if (grid.isCut || shown.length < grid.rows.length) this.#onCut();
    const caption = table.children.find((child) => isElement(child) && child.name === 'caption');
    const parts: (AnyNode | string)[] = caption === undefined ? ['<table>'] : [caption, '<table>'];
    for (const row of grid.headers === 0 ? [[], ...shown] : shown) {
      parts.push('<tr>');
      for (let at = 0; at < width; at++) {
        const cell = row[at];
        parts.push('<td>');
        if (cell !== undefined && !cell.isRepeated) for (const child of cell.element.children) parts.push(child);
        parts.push('</td>');
      }
      parts.push('</tr>');
    }
    return [...parts, '</table>'];
  }
}

function isForLayout(table: Element): boolean {
  if (/^(?:presentation|none)$/.test(table.attribs.role ?? '')) return true;
  const [, nested] = elementsNamed(table, TABLE).take(2);
  return nested !== undefined;
}

/** Returns whether a table is for data. It is with a header or a caption, or with several rows and columns. */
function isForData(table: Element, { rows }: Grid): boolean {
  if (rows.length === 1 && isOfCode(table)) return false;
  const [header] = elementsNamed(table, CAPTION_OR_HEADER).take(1);
  if (header !== undefined) return rows.length > 0;
  return rows.length > 1 && rows.some(({ length }) => length > 1);
}

/** Returns whether a table contains code, with nothing but its line numbers beside it. */
function isOfCode(table: Element): boolean {
  const [pre, , third] = elementsNamed(table, PRE).take(3);
  return pre !== undefined && third === undefined;
}
