/** A header that says that its column holds URLs: `url`, `Page URL`, `urls`. */
const SAYS_URL = /^(?:\w{1,20}[ _-])?urls?$/i;
/** What separates the columns of a table, the most telling first. */
const SEPARATORS = ['\t', ';', ','] as const;

export type Separator = (typeof SEPARATORS)[number];

/** What to do with a table that doesn't say where its URLs are, as the end of a sentence that begins with its name. */
export const NO_URL_COLUMN =
  'looks like a table, not a list of URLs: put the URLs in its first column, under the header url, or alone, one a line';

/**
 * What the first line of a list says about the others. `column`: it is a header, and they begin with a URL. `table`: it has
 * columns, and doesn't say that the first one holds URLs. `list`: each line is a URL.
 */
export type ListForm =
  | { readonly kind: 'list' | 'table' }
  | { readonly kind: 'column'; readonly separator: Separator | undefined };

/** Looks at the first line of a list that is neither blank nor a comment. */
export function formOfList(line: string): ListForm {
  const isUrl = /^"?https?:\/\//i.test(line);
  const separator = SEPARATORS.find((one) => line.includes(one));
  if (isUrl) {
    // A comma or semicolon alone may belong to the URL.
    const isRow = line.startsWith('"') || line.includes('\t') || /[,;].*["\s]/.test(line);
    return { kind: isRow ? 'table' : 'list' };
  }
  if (SAYS_URL.test(firstCell(line, separator))) return { kind: 'column', separator };
  return { kind: separator === undefined ? 'list' : 'table' };
}

/** The first cell of a row, without its quotes; the only one without a separator. */
export function firstCell(line: string, separator: Separator | undefined): string {
  const quoted = /^\s*"((?:[^"]|"")*)"/.exec(line)?.[1];
  if (quoted !== undefined) return quoted.replaceAll('""', '"').trim();
  const end = separator === undefined ? -1 : line.indexOf(separator);
  return (end < 0 ? line : line.slice(0, end)).trim();
}

/** What the end of a line does to a row: it ends it, or is within a quoted cell. `broken`: more than a separator follows a cell's last quote. */
export type RowState = 'ended' | 'open' | 'broken';

/**
 * How a row stands after a line. A quote begins a cell only where the cell begins (RFC 4180 section 2).
 *
 * @param isOpen the line begins within a quoted cell
 */
export function rowAfter(line: string, separator: Separator, isOpen: boolean): RowState {
  let at = isOpen ? 0 : withoutBlanks(line, 0);
  let isQuoted = isOpen || line[at] === '"';
  if (isQuoted && !isOpen) at++;
  for (;;) {
    if (isQuoted) {
      const end = endOfQuoted(line, at);
      if (end < 0) return 'open';
      at = withoutBlanks(line, end);
      if (at < line.length && line[at] !== separator) return 'broken';
    }
    const end = line.indexOf(separator, at);
    if (end < 0) return 'ended';
    at = withoutBlanks(line, end + 1);
    isQuoted = line[at] === '"';
    if (isQuoted) at++;
  }
}

/** The position behind the quote that ends a cell: one that is not doubled. Negative if there is none. */
function endOfQuoted(line: string, start: number): number {
  for (let at = line.indexOf('"', start); at >= 0; at = line.indexOf('"', at + 2)) {
    if (line[at + 1] !== '"') return at + 1;
  }
  return -1;
}

function withoutBlanks(line: string, start: number): number {
  let at = start;
  while (line[at] === ' ') at++;
  return at;
}
