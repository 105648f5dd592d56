/** A line that dotenv leaves out, or takes in another way than it was meant. */
export interface OddLine {
  /** From 1. */
  readonly line: number;
  readonly problem: string;
}

const NOTHING = /^\s*(?:#.*)?$/;
const ASSIGNED = /^\s*(?:export\s+)?([\w.-]+)(?:\s*=|:\s)\s*/;
const QUOTES: ReadonlySet<string> = new Set(['"', "'", '`']);

/** What is wrong with the lines of an `.env`, as dotenv reads them: it says nothing itself. Values, which may be secret, are not told. */
export function oddLines(text: string): OddLine[] {
  const lines = text.split(/\r\n?|\n/);
  const odd: OddLine[] = [];
  for (let at = 0; at < lines.length; at++) {
    const written = lines[at] ?? '';
    if (NOTHING.test(written)) continue;
    const [begin, name] = ASSIGNED.exec(written) ?? [];
    if (begin === undefined) {
      odd.push({ line: at + 1, problem: 'it is left out, since it is not NAME=value' });
      continue;
    }
    const quote = written.charAt(begin.length);
    if (!QUOTES.has(quote)) continue;
    const end = lineOfQuote(lines, at, begin.length + 1, quote);
    if (end === undefined)
      odd.push({ line: at + 1, problem: `the ${quote} before the value of ${name} is never closed` });
    else at = end;
  }
  return odd;
}

/** The line on which a quote is closed that was opened before a place on another. */
function lineOfQuote(lines: readonly string[], from: number, column: number, quote: string): number | undefined {
  for (let at = from, start = column; at < lines.length; at++, start = 0) {
    const line = lines[at] ?? '';
    for (let found = line.indexOf(quote, start); found >= 0; found = line.indexOf(quote, found + 1))
      if (line[found - 1] !== '\\') return at;
  }
  return undefined;
}
