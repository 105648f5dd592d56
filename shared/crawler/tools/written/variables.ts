import { firstMatch } from '../../../task/first-match.ts';
import { literalAt } from './script-literal.ts';
import { parsedJson } from './written-json.ts';

/** Characters that can close a variable's name: `window["a"]` and `self.a` are the same variable. */
const NAME_ENDS = /["'`]?\]?/y;
const NOT_BLANK = /\S/g;
const ASSIGNED = /=(?![=>])/y;
const IN_NAME = /[\p{ID_Continue}$]/u;
const GLOBAL = /^(?:window|self|globalThis)\./;

/**
 * Returns the first literal that one of these scripts assigns to a variable or property of this name; see `literalAt`. Reads each script
 * once, from start to end.
 */
export function variableIn(scripts: Iterable<string>, name: string): unknown {
  const wanted = name.replace(GLOBAL, '');
  if (wanted === '') return undefined;
  for (const script of scripts) {
    for (let at = script.indexOf(wanted); at >= 0; ) {
      let next = at + wanted.length;
      NAME_ENDS.lastIndex = next;
      NAME_ENDS.test(script);
      ASSIGNED.lastIndex = firstMatch(script, NOT_BLANK, NAME_ENDS.lastIndex);
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
