import type { AnyNode, Element } from 'domhandler';
import { beginning } from '../../task/beginning.ts';
import { elementsNamed, isElement } from './nodes.ts';
import { textOf } from './text.ts';

/** A row of a table: its cells by column name, or by column number from 0 if the table has no header. */
export type TableRow = Readonly<Record<string, string>>;

/** Cells read of a table, counting each place that `colspan` and `rowspan` fill. Further rows are left out. */
const MAX_CELLS = 200_000;
/** Columns, and rows, that one cell can span (HTML standard, section 4.9.11, which allows 65,534 rows). */
const MAX_SPAN = 1_000;
/** Characters of a column's name. A longer one is cut, since each column that its cell spans gets a name of its own. */
const MAX_NAME_LENGTH = 256;

/**
 * Returns the rows of a table as objects. The header is the `<thead>`, or else a first row that has only `<th>`, apart from empty cells. A
 * column's name is the text of its header cells from top to bottom. A second column of the same name becomes `name 2`; one without a name
 * gets its number, from 1. Cells that span rows or columns appear in each of them. Cells missing at the end of a row are left out.
 */
export function tableRows(table: Element): readonly TableRow[] {
  const { rows, headers } = gridOf(table);
  const names = headers === 0 ? [] : namesOf(rows.slice(0, headers));
  return rows
    .slice(headers)
    .map((row) => Object.fromEntries(row.map(({ text }, at) => [names[at] ?? `${headers === 0 ? at : at + 1}`, text])));
}

/** A cell of a table, in one of the places it fills. */
interface GridCell {
  readonly element: Element;
  readonly text: string;
  /** Whether this isn't the first of its places. */
  readonly isRepeated: boolean;
}

/** All rows of a table, the header included. */
export interface Grid {
  readonly rows: readonly (readonly GridCell[])[];
  /** Number of rows at the top that form the header. */
  readonly headers: number;
  /** Whether the table has more cells than were read. */
  readonly isCut: boolean;
}

const SECTIONS: ReadonlySet<string> = new Set(['thead', 'tbody', 'tfoot']);

/** Arranges the cells of a table in rows and columns. @param most maximum cells; further rows are left out */
export function gridOf(table: Element, most = MAX_CELLS): Grid {
  const lines = linesOf(table);
  const rows: GridCell[][] = [];
  /** By column, cells from above that reach further down, and for how many rows. */
  let hanging = new Map<number, { readonly cell: GridCell; readonly left: number }>();
  let cells = 0;
  for (const { line } of lines) {
    const row: GridCell[] = [];
    const reaching: typeof hanging = new Map();
    const takeHanging = (): void => {
      for (let above = hanging.get(row.length); above !== undefined; above = hanging.get(row.length)) {
        if (above.left > 1) reaching.set(row.length, { ...above, left: above.left - 1 });
        row.push(above.cell);
      }
    };
    for (const element of line) {
      const text = textOf(element);
      const down = spanOf(element, 'rowspan');
      const repeated: GridCell = { element, text, isRepeated: true };
      takeHanging();
      for (let across = spanOf(element, 'colspan'), isRepeated = false; across > 0; across--, isRepeated = true) {
        if (down > 1) reaching.set(row.length, { cell: repeated, left: down - 1 });
        row.push(isRepeated ? repeated : { element, text, isRepeated });
      }
      if (cells + row.length > most) break;
    }
    takeHanging();
    hanging = reaching;
    cells += row.length;
    if (cells > most) break;
    if (row.length > 0) rows.push(row);
  }
  return { rows, headers: Math.min(rows.length, headersOf(lines)), isCut: cells > most };
}

interface Line {
  readonly line: readonly Element[];
  readonly isHead: boolean;
}

/** Returns the table's own rows that have cells, without those of nested tables. */
function linesOf(table: Element): readonly Line[] {
  const lineIn = (node: AnyNode, isHead: boolean): readonly Line[] => {
    if (!isElement(node) || node.name !== 'tr') return [];
    const line = node.children.filter((cell) => isElement(cell)).filter(({ name }) => name === 'td' || name === 'th');
    return line.length === 0 ? [] : [{ line, isHead }];
  };
  return table.children.flatMap((part) => {
    if (!isElement(part) || !SECTIONS.has(part.name)) return lineIn(part, false);
    return part.children.flatMap((node) => lineIn(node, part.name === 'thead'));
  });
}

function headersOf(lines: readonly Line[]): number {
  const behindHead = lines.findIndex(({ isHead }) => !isHead);
  const inHead = behindHead < 0 ? lines.length : behindHead;
  if (inHead > 0) return inHead;
  const first = lines[0]?.line ?? [];
  const isHeader = first.some(isHeading) && first.every((cell) => isHeading(cell) || textOf(cell) === '');
  return isHeader ? 1 : 0;
}

function isHeading({ name }: Element): boolean {
  return name === 'th';
}

function namesOf(headers: Grid['rows']): readonly string[] {
  const width = headers.reduce((most, { length }) => Math.max(most, length), 0);
  const used = new Map<string, number>();
  return Array.from({ length: width }, (_, at) => {
    // A name that spans several rows of the header is used once.
    const parts = headers
      .map((row) => beginning(row[at]?.text ?? '', MAX_NAME_LENGTH))
      .filter((text, row, all) => text !== '' && text !== all[row - 1]);
    const name = beginning(parts.join(' '), MAX_NAME_LENGTH);
    if (name === '') return `${at + 1}`;
    const times = (used.get(name) ?? 0) + 1;
    used.set(name, times);
    return times === 1 ? name : `${name} ${times}`;
  });
}

function spanOf(cell: Element, name: 'colspan' | 'rowspan'): number {
  const span = Number.parseInt(cell.attribs[name] ?? '', 10);
  return span > 1 ? Math.min(span, MAX_SPAN) : 1;
}

const TABLE: ReadonlySet<string> = new Set(['table']);

/** Returns a node itself if it is a table, otherwise the first table inside it. */
export function tableIn(node: AnyNode): Element | undefined {
  for (const table of elementsNamed(node, TABLE)) return table;
  return undefined;
}
