import { SECOND_MS } from '../durations.ts';
import { comparablePattern, type RobotsRules } from './robots-match.ts';

/** The name by which robots.txt files address this crawler. Such names have no digits (RFC 9309 section 2.2.1). */
export const ROBOTS_TOKEN = 'TrawlBot';

type Directive = 'agent' | 'allow' | 'disallow' | 'delay';

/** The keys of lines, including common misspellings that other crawlers accept too. */
const DIRECTIVES: ReadonlyMap<string, Directive> = new Map([
  ['user-agent', 'agent'],
  ['useragent', 'agent'],
  ['user agent', 'agent'],
  ['useg-agent', 'agent'],
  ['allow', 'allow'],
  ['disallow', 'disallow'],
  ['dissallow', 'disallow'],
  ['dissalow', 'disallow'],
  ['disalow', 'disallow'],
  ['diasllow', 'disallow'],
  ['disallaw', 'disallow'],
  ['desallow', 'disallow'],
  ['crawl-delay', 'delay'],
]);

/** A line without its colon. Only `User-agent` with names, or a rule with a single path, so that prose doesn't match. */
const WITHOUT_COLON = /^(user[ -]?agent)[ \t]+([^\t-\r ].*)$|^((?:dis)?allow)[ \t]+([/*][^\t-\r ]*)$/i;

/** Which crawlers the lines of a group apply to. */
interface Group {
  ours: boolean;
  everybody: boolean;
}

/** The rules and delays given to one crawler. */
interface Said {
  readonly allow: Set<string>;
  readonly disallow: Set<string>;
  delayMs: number | undefined;
}

/**
 * Reads a robots.txt for one crawler (RFC 9309 section 2.2). All groups that name it are merged; if none does, those for `*`
 * apply; lines before the first group are ignored. A broken file is read as far as it makes sense: this never throws.
 *
 * | in the file                         | then                                                                        |
 * |-------------------------------------|-----------------------------------------------------------------------------|
 * | an empty group that names us        | everything is allowed, with no fallback to `*`                              |
 * | other lines within a group          | neither end nor split it                                                    |
 * | agents after a `Crawl-delay`        | share the rules that follow, but not the delay                              |
 * | several names in one line           | each counts, up to the first `/`, where a version begins                    |
 * | marks around a name                 | are ignored: `TrawlBot*`, `TrawlBot;`, `"TrawlBot"`                         |
 * | a missing colon, a common misspelling | is understood                                                             |
 * | several delays                      | the longest applies                                                         |
 *
 * @param token the crawler's name, without a version
 */
export function parseRobots(bytes: Uint8Array, token: string = ROBOTS_TOKEN): RobotsRules {
  const name = octetsOf(token).toLowerCase();
  const [ours, everybodys] = [nothingSaid(), nothingSaid()];
  let group: Group = { ours: false, everybody: false };
  let delayGroup: Group = { ours: false, everybody: false };
  let [isNamed, hasRules, hasDelay] = [false, false, false];
  for (const line of textOf(bytes).split(/\r\n|\n|\r/)) {
    const { directive, value } = readLine(line);
    switch (directive) {
      case 'agent': {
        if (hasRules) group = { ours: false, everybody: false };
        if (hasRules || hasDelay) delayGroup = { ours: false, everybody: false };
        hasRules = hasDelay = false;
        const named = namesIn(value);
        for (const each of [group, delayGroup]) {
          if (named.includes(name)) each.ours = true;
          if (named.includes('*')) each.everybody = true;
        }
        isNamed ||= group.ours;
        break;
      }
      case 'allow':
      case 'disallow': {
        hasRules = true;
        const pattern = comparablePattern(value);
        if (pattern === undefined) break;
        if (group.ours) ours[directive].add(pattern);
        if (group.everybody) everybodys[directive].add(pattern);
        break;
      }
      case 'delay': {
        hasDelay = true;
        const ms = delayMs(value);
        if (ms === undefined) break;
        if (delayGroup.ours) ours.delayMs = Math.max(ours.delayMs ?? 0, ms);
        if (delayGroup.everybody) everybodys.delayMs = Math.max(everybodys.delayMs ?? 0, ms);
      }
    }
  }
  const { allow, disallow, delayMs: delay } = isNamed ? ours : everybodys;
  return {
    allow: longestFirst(allow),
    disallow: longestFirst(disallow),
    ...(delay === undefined ? {} : { crawlDelayMs: delay }),
    ...(isNamed ? { isOurs: true as const } : {}),
  };
}

function nothingSaid(): Said {
  return { allow: new Set(), disallow: new Set(), delayMs: undefined };
}

function readLine(line: string): { readonly directive: Directive | undefined; readonly value: string } {
  const comment = line.indexOf('#');
  // Editors of web pages may end lines with `<br>`.
  const text = trimmed(comment < 0 ? line : line.slice(0, comment)).replace(/<br[ /]*>$/i, '');
  const colon = text.indexOf(':');
  if (colon >= 0) {
    const directive = DIRECTIVES.get(trimmed(text.slice(0, colon)).toLowerCase());
    if (directive !== undefined) return { directive, value: trimmed(text.slice(colon + 1)) };
  }
  const [, agent, names, rule, pattern] = WITHOUT_COLON.exec(text) ?? [];
  if (agent !== undefined) return { directive: 'agent', value: names ?? '' };
  if (rule !== undefined) return { directive: DIRECTIVES.get(rule.toLowerCase()), value: pattern ?? '' };
  return { directive: undefined, value: '' };
}

/**
 * Removes ASCII white space from both ends. `trim` would remove more, such as the octet A0, the last one of `à` in UTF-8.
 */
function trimmed(octets: string): string {
  let start = 0;
  let end = octets.length;
  while (start < end && isSpace(octets.charCodeAt(start))) start++;
  while (end > start && isSpace(octets.charCodeAt(end - 1))) end--;
  return octets.slice(start, end);
}

function isSpace(octet: number): boolean {
  return octet === 0x20 || (octet >= 0x09 && octet <= 0x0d);
}

function namesIn(value: string): readonly string[] {
  const [names = ''] = value.split('/', 1);
  return names
    .toLowerCase()
    .split(/[\t-\r ,;]+/)
    .map(withoutMarks);
}

/** Returns a name without the quotation marks or pattern characters around it. */
function withoutMarks(written: string): string {
  const parts = written.match(/[a-z0-9_\-\x80-\xff]+/g);
  if (parts === null) return written.includes('*') ? '*' : written;
  const [name = ''] = parts;
  return parts.length === 1 ? name : written;
}

/** Reads seconds, with or without a fraction, as milliseconds. */
function delayMs(value: string): number | undefined {
  if (!/^(?:\d+(?:\.\d*)?|\.\d+)$/.test(value)) return undefined;
  return Math.min(Math.ceil(Number(value) * SECOND_MS), Number.MAX_SAFE_INTEGER);
}

function longestFirst(patterns: Iterable<string>): string[] {
  return [...patterns].sort((a, b) => b.length - a.length || (a < b ? -1 : 1));
}

/**
 * Returns the file as a string of octets, so that invalid UTF-8 is compared as it is. A byte order mark is removed; a file in UTF-16,
 * recognised by that mark, is converted to UTF-8 first.
 */
function textOf(bytes: Uint8Array): string {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return octetsOf(new TextDecoder('utf-16le').decode(bytes));
  if (first === 0xfe && second === 0xff) return octetsOf(new TextDecoder('utf-16be').decode(bytes));
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  return text.startsWith('\xef\xbb\xbf') ? text.slice(3) : text;
}

function octetsOf(text: string): string {
  return Buffer.from(text).toString('latin1');
}
