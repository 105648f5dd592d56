/** A line of `.env` that dotenv ignores or misreads. */
export interface OddLine {
  /** Line number, from 1. */
  readonly line: number;
  readonly problem: string;
}

const NOTHING = /^\s*(?:#.*)?$/;
const ASSIGNED = /^\s*(?:export\s+)?([\w.-]+)(?:\s*=|:\s)\s*/;
const QUOTES: ReadonlySet<string> = new Set(['"', "'", '`']);

/** Finds the lines of an `.env` that dotenv ignores or misreads without a warning. The problems contain no values, which may be secret. */
export function oddLines(text: string): OddLine[] {
  const lines = text.split(/\r\n?|\n/);
  const odd: OddLine[] = [];
  for (let at = 0; at < lines.length; at++) {
    const written = lines[at] ?? '';
    if (NOTHING.test(written)) continue;
    const [begin, name] = ASSIGNED.exec(written) ?? [];
    if (begin === undefined) {
      odd.push({ line: at + 1, problem: 'it is ignored, since it is not NAME=value' });
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

/** Returns the index of the line that closes the quote opened just before `column` of line `from`; nothing if none does. */
function lineOfQuote(lines: readonly string[], from: number, column: number, quote: string): number | undefined {
  for (let at = from, start = column; at < lines.length; at++, start = 0) {
    const line = lines[at] ?? '';
    for (let found = line.indexOf(quote, start); found >= 0; found = line.indexOf(quote, found + 1))
      if (line[found - 1] !== '\\') return at;
  }
  return undefined;
}
