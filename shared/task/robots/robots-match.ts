import { MAX_URL_LENGTH } from '../url/url.ts';

/** What a robots.txt says to one crawler. Patterns are in the form of {@link comparable}, the longest first. */
export interface RobotsRules {
  readonly allow: readonly string[];
  readonly disallow: readonly string[];
  /** What it wants to pass between two requests. */
  readonly crawlDelayMs?: number;
}

/** Rules of whom nothing is forbidden. */
export const ALLOW_ALL: RobotsRules = { allow: [], disallow: [] };

/**
 * Steps of comparing that one URL may cost, some milliseconds. A file of a thousand rules takes a hundredth of it; one that is
 * made to take more has its pages left alone.
 */
export const MAX_STEPS = 5_000_000;

/** Counts the steps of comparing down. */
export interface StepBudget {
  left: number;
}

/**
 * May this URL be fetched? The longest rule that matches decides, and `Allow` where two are as long (RFC 9309 section 2.2.2).
 * `/robots.txt` itself always may.
 *
 * @param href the WHATWG serialisation of an http URL, as it is fetched
 */
export function isAllowed(
  { allow, disallow }: RobotsRules,
  href: string,
  budget: StepBudget = { left: MAX_STEPS },
): boolean {
  if (disallow.length === 0) return true;
  const path = comparablePath(href);
  if (path === '/robots.txt') return true;
  const forbidding = disallow.find((pattern) => matches(pattern, path, budget));
  if (forbidding === undefined) return budget.left >= 0;
  for (const pattern of allow) {
    if (pattern.length < forbidding.length) return false;
    if (matches(pattern, path, budget)) return budget.left >= 0;
  }
  return false;
}

/**
 * Does a pattern match the beginning of a path, or all of it if it ends in `$`? Two pointers: after a mismatch, the last `*`
 * takes one octet more. Never longer than length times length, and never beyond the budget; then the answer is no.
 */
export function matches(pattern: string, path: string, budget: StepBudget): boolean {
  const isAnchored = pattern.endsWith('$');
  const end = isAnchored ? pattern.length - 1 : pattern.length;
  let at = 0;
  let star = -1;
  let starTook = 0;
  for (let read = 0; read < path.length; ) {
    if (at === end && !isAnchored) return true;
    if (--budget.left < 0) return false;
    if (at < end && pattern.charCodeAt(at) === STAR) {
      star = at++;
      starTook = read;
    } else if (at < end && pattern.charCodeAt(at) === path.charCodeAt(read)) {
      at++;
      read++;
    } else if (star >= 0) {
      at = star + 1;
      read = ++starTook;
    } else {
      return false;
    }
  }
  while (at < end && pattern.charCodeAt(at) === STAR) at++;
  return at === end;
}

const STAR = '*'.charCodeAt(0);

/** The pattern of a rule as it is compared; nothing if it is empty, or longer than any URL. */
export function comparablePattern(text: string): string | undefined {
  if (text === '' || text.length > MAX_URL_LENGTH) return undefined;
  const isAnchored = text.endsWith('$');
  const body = isAnchored ? text.slice(0, -1) : text;
  return comparable(body).replaceAll('$', '%24').replace(/\*+/g, '*') + (isAnchored ? '$' : '');
}

/** Path and query of a URL as they are compared: what would be a wildcard in a rule is none here. */
function comparablePath(href: string): string {
  const start = href.indexOf('/', href.indexOf('//') + 2);
  const path = start < 0 ? '/' : href.slice(start);
  return comparable(path).replaceAll('*', '%2A').replaceAll('$', '%24');
}

/**
 * Two spellings of one path in one form (RFC 9309 section 2.2.2): escapes of unreserved characters decoded, other escapes in
 * upper case, and what no URI may hold escaped. So is the apostrophe, which the URL Standard escapes in queries only. An
 * escape that is none stays as it is.
 *
 * @param octets text whose characters are octets: those beyond ASCII are escaped each for itself
 */
function comparable(octets: string): string {
  if (!UNCOMPARABLE.test(octets)) return octets;
  return octets.replace(ESCAPES_AND_ILLEGALS, (found) => {
    if (found.length === 1) return escapeOf(found.charCodeAt(0));
    const character = String.fromCharCode(Number.parseInt(found.slice(1), 16));
    return /[A-Za-z0-9\-._~]/.test(character) ? character : found.toUpperCase();
  });
}

const UNCOMPARABLE = /[^A-Za-z0-9\-._~:/?#[\]@!$&()*+,;=]/;
const ESCAPES_AND_ILLEGALS = /%[0-9A-Fa-f]{2}|[^A-Za-z0-9\-._~:/?#[\]@!$&()*+,;=%]/g;

function escapeOf(octet: number): string {
  return `%${octet.toString(16).toUpperCase().padStart(2, '0')}`;
}
