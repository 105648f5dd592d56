/** The first line of a function that isn't indented. Its last line is `end`. */
const BEGINNING = /^(?:local )?function ([A-Za-z_]\w*)/;
/** Declares a function before it is defined. */
const FORWARD = /^local \w+$/;
const WORD = /[A-Za-z_]\w*/g;

/** Lines of a library that belong together: a function, or one line between functions. */
interface Part {
  readonly text: string;
  /** The function's name. */
  readonly name?: string;
}

/**
 * Returns a Lua library without the functions that are not needed by `body` or by its own statements, directly or through other
 * functions. A script creates all its functions each time it runs, whether they are called or not.
 *
 * @param library functions that begin and end at the beginning of a line, and statements between them
 */
export function usedFunctions(library: string, body: string): string {
  const parts = partsOf(library);
  const functions = new Map(parts.flatMap(({ name, text }) => (name === undefined ? [] : [[name, text] as const])));
  const used = new Set<string>();
  const visit = (text: string): void => {
    for (const word of wordsOf(text)) {
      const found = functions.get(word);
      if (found === undefined || used.has(word)) continue;
      used.add(word);
      visit(found);
    }
  };
  for (const { name, text } of parts) if (name === undefined) visit(text);
  visit(body);
  const kept = parts.filter(({ name }) => name === undefined || used.has(name));
  return kept.map(({ text }) => `${text}\n`).join('');
}

function partsOf(library: string): Part[] {
  const parts: Part[] = [];
  const lines = library.split('\n');
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? '';
    const name = BEGINNING.exec(line)?.[1];
    if (name === undefined) {
      parts.push({ text: line });
      continue;
    }
    const end = lines.indexOf('end', at);
    if (end < 0) throw new Error(`the function ${name} of a script has no end at the beginning of a line`);
    parts.push({ name, text: lines.slice(at, end + 1).join('\n') });
    at = end;
  }
  return parts;
}

/** The words of a Lua text, without comments and declarations. */
function wordsOf(text: string): string[] {
  const code = text.split('\n').filter((line) => !FORWARD.test(line));
  return code.flatMap((line) => (line.split('--', 1)[0] ?? '').match(WORD) ?? []);
}
