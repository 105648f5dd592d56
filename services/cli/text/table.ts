import { printable } from '../../../shared/runtime/printable.ts';
import { widthOf } from './width.ts';

/** A cell that is wider is cut: a URL may have 8,192 characters. */
const MOST_COLUMNS = 160;
/** Cells are padded to this width at most: one wide cell mustn't make every other line as wide. */
const MOST_PADDED = 80;
/** No readable grapheme has this many characters. */
const MOST_CHARACTERS = 8 * MOST_COLUMNS;

/** Rows in columns as wide as their content on a terminal; a line each. Cells are made printable. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const cells = rows.map((row) => row.map(shown));
  const widths: number[] = [];
  for (const row of cells) {
    for (const [column, { width }] of row.entries())
      widths[column] = Math.max(widths[column] ?? 0, width <= MOST_PADDED ? width : 0);
  }
  return cells.map((row) =>
    row
      .map(({ text, width }, column) => text + ' '.repeat(Math.max(0, (widths[column] ?? 0) - width)))
      .join('  ')
      .trimEnd(),
  );
}

interface Cell {
  readonly text: string;
  /** Columns of a terminal. */
  readonly width: number;
}

function shown(cell: string): Cell {
  const text = printable(cell.slice(0, MOST_CHARACTERS));
  const width = widthOf(text);
  return width <= MOST_COLUMNS && cell.length <= MOST_CHARACTERS ? { text, width } : cut(text);
}

/** The beginning of a text, and `…`. */
function cut(text: string): Cell {
  let [beginning, width] = ['', 0];
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    const more = widthOf(segment);
    if (width + more >= MOST_COLUMNS) break;
    beginning += segment;
    width += more;
  }
  return { text: `${beginning}…`, width: width + 1 };
}
