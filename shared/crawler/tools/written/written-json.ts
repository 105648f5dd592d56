import { firstMatch } from '../../../task/first-match.ts';

/** Prefixes that servers put before JSON so that no other site can load it as a script. */
const GUARD = /^(?:\)\]\}',?|while ?\((?:1|true)\);|for ?\(;;\);|&&&START&&&)/;
/** The call of a function that the page asked for (JSONP). Some servers put a comment before it. */
const CALL = /^(?:\/\*\*\/)?\s*[\w$.[\]]{1,200}\(/;
/** Media types with one JSON value per line. */
const LINES = /^application\/(?:x-)?(?:ndjson|jsonl|json-?lines|stream\+json)$/;

/**
 * Returns the value of a body: JSON, JSON after a guard such as `)]}',` or inside a call (JSONP), or the list of the values of its lines if
 * each is JSON or the media type says so. Undefined for anything else.
 */
export function bodyJson(body: string, mediaType: string | undefined): unknown {
  const text = body.trim();
  if (LINES.test(mediaType ?? '')) return valuesOfLines(text);
  const value = parsedJson(text);
  if (value !== undefined || text === '') return value;
  return parsedJson(text.replace(GUARD, '')) ?? parsedJson(argumentOf(text)) ?? valuesOfLines(text);
}

/** Returns the argument of a call; empty if the text isn't a call. */
function argumentOf(text: string): string {
  const [call] = CALL.exec(text) ?? [];
  const end = text.endsWith(');') ? -2 : text.endsWith(')') ? -1 : undefined;
  return call === undefined || end === undefined ? '' : text.slice(call.length, end);
}

/** Returns the values of all lines; undefined if one isn't JSON. */
function valuesOfLines(text: string): readonly unknown[] | undefined {
  const values: unknown[] = [];
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue;
    const value = parsedJson(line);
    if (value === undefined) return undefined;
    values.push(value);
  }
  return values;
}

/** Parses JSON as people write it into pages: in comments or CDATA, with control characters in strings, with trailing commas. */
export function writtenJson(source: string): unknown {
  const text = jsonOf(source);
  return parsedJson(text) ?? parsedJson(withoutLastCommas(text));
}

/** Removes the comma after the last item of a list or an object. */
function withoutLastCommas(text: string): string {
  let isInString = false;
  return text.replace(/\\.|[",]/gs, (token, at: number) => {
    if (token === '"') isInString = !isInString;
    if (token !== ',' || isInString) return token;
    return /[}\]]/.test(text.charAt(firstMatch(text, NOT_BLANK, at + 1))) ? '' : token;
  });
}

const NOT_BLANK = /\S/g;

/** Removes what JSON doesn't allow but people write around it or into its strings: comments, CDATA, control characters. */
function jsonOf(source: string): string {
  const opened = source.trim().replace(/^(?:\/[/*]\s*)?(?:<!--|<!\[CDATA\[)/, '');
  const text = without(opened, ['*/'], 'startsWith');
  // No JSON ends with one of these.
  const closed = CLOSERS.reduce((rest, closers) => without(rest, closers, 'endsWith'), text);
  return closed.replaceAll(/[\0-\x1f]/g, ' ');
}

const CLOSERS = [[';'], ['*/'], ['-->', ']]>'], ['//', '/*']];

function without(text: string, marks: readonly string[], end: 'startsWith' | 'endsWith'): string {
  const trimmed = text.trim();
  const mark = marks.find((each) => trimmed[end](each));
  if (mark === undefined) return trimmed;
  return (end === 'startsWith' ? trimmed.slice(mark.length) : trimmed.slice(0, -mark.length)).trim();
}

/** Parses a JSON text; undefined if it isn't valid. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns the value at a path in a JSON value, such as `items[0].price` or `items.0.price`; undefined if there is none. */
export function atPath(value: unknown, path: string): unknown {
  let at = value;
  for (const key of path.split(/[.[\]]+/).filter((part) => part !== '')) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as Readonly<Record<string, unknown>>)[key];
  }
  return at;
}
