/** A function at the beginning of a line, up to the `end` at the beginning of another. */
const FUNCTION = /^(?:local )?function ([A-Za-z_]\w*)\(.*\n(?:(?!end$).*\n)*end\n/gm;
/** Names a function before it is defined. */
const FORWARD = /^local \w+$/gm;
const COMMENT = /--.*$/gm;
const WORD = /[A-Za-z_]\w*/g;

/**
 * A Lua library without the functions that neither `body` nor its own rest needs, be it through others. Every function that a
 * script has is made anew each time it runs, whether it is called or not.
 *
 * @param library functions that begin and end at the beginning of a line, and statements between them
 */
export function usedFunctions(library: string, body: string): string {
  const functions = new Map<string, string>();
  const rest = library.replace(FUNCTION, (text, name: string) => {
    functions.set(name, text);
    return '';
  });
  const used = new Set<string>();
  const visit = (text: string): void => {
    for (const [word] of text.replace(COMMENT, '').replace(FORWARD, '').matchAll(WORD)) {
      const found = functions.get(word);
      if (found === undefined || used.has(word)) continue;
      used.add(word);
      visit(found);
    }
  };
  visit(rest + body);
  return library.replace(FUNCTION, (text, name: string) => (used.has(name) ? text : ''));
}
