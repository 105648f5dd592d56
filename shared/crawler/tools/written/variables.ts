import { literalAt } from './script-literal.ts';
import { parsedJson } from './written-json.ts';

/** What is before a variable's name where it is given a value, if the name ends there: `window["a"]` and `self.a` are the same variable. */
const ASSIGNED = /["'`]?\]?\s*=(?![=>])/y;
const IN_NAME = /[\p{ID_Continue}$]/u;
const GLOBAL = /^(?:window|self|globalThis)\./;

/**
 * The first value that one of these scripts gives a variable, or a property of this name, and that is written out; see `literalAt`. Each
 * script is read once, from its beginning to its end.
 */
export function variableIn(scripts: Iterable<string>, name: string): unknown {
  const wanted = name.replace(GLOBAL, '');
  if (wanted === '') return undefined;
  for (const script of scripts) {
    for (let at = script.indexOf(wanted); at >= 0; ) {
      let next = at + wanted.length;
      ASSIGNED.lastIndex = next;
      if (!IN_NAME.test(script.charAt(at - 1)) && ASSIGNED.test(script)) {
        const { json, end } = literalAt(script, ASSIGNED.lastIndex);
        const value = json === undefined ? undefined : parsedJson(json);
        if (value !== undefined) return value;
        next = Math.max(next, end);
      }
      at = script.indexOf(wanted, next);
    }
  }
  return undefined;
}
