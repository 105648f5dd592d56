import { printable } from '../../../shared/runtime/printable.ts';
import { widthOf } from './width.ts';

/** Maximum width of a cell. Wider ones are cut: a URL can have 8,192 characters. */
const MOST_COLUMNS = 160;
/** Maximum width to which cells are padded, so that one wide cell doesn't widen every other line. */
const MOST_PADDED = 80;
/** Maximum characters of a cell. No readable text of the maximum width has more. */
const MOST_CHARACTERS = 8 * MOST_COLUMNS;

/** Formats rows as lines, with aligned columns. Cells are made printable. */
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
  /** Width in terminal columns. */
  readonly width: number;
}

function shown(cell: string): Cell {
  const text = printable(cell.slice(0, MOST_CHARACTERS));
  const width = widthOf(text);
  return width <= MOST_COLUMNS && cell.length <= MOST_CHARACTERS ? { text, width } : cut(text);
}

/** Cuts a text to the maximum width, with `…` at the end. */
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
