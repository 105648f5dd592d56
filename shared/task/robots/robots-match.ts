import { MAX_URL_LENGTH } from '../url/url.ts';

/** The rules of a robots.txt for one crawler. Patterns are in the form of {@link comparable}, the longest first. */
export interface RobotsRules {
  readonly allow: readonly string[];
  readonly disallow: readonly string[];
  /** Minimum time between two requests that the file asks for. */
  readonly crawlDelayMs?: number;
  /** The rules are from groups that name us. Left out: they are from groups for everybody, or there are none. */
  readonly isOurs?: true;
}

/**
 * What rules say about a URL, and the rule that decides. Without a `rule`, an allowed URL matches no `Disallow`; a forbidden one
 * takes too long to compare.
 */
export interface RobotsDecision {
  readonly isAllowed: boolean;
  readonly rule?: RobotsRule;
}

interface RobotsRule {
  readonly kind: 'Allow' | 'Disallow';
  readonly pattern: string;
}

/** Longest Crawl-delay that is honoured. Pages of a host that asks for a longer one are skipped. */
export const MAX_CRAWL_DELAY_MS = 60_000;

/** Rules that forbid nothing. */
export const ALLOW_ALL: RobotsRules = { allow: [], disallow: [] };

/**
 * Maximum comparison steps for one URL, a matter of milliseconds. A file of a thousand rules takes a hundredth of it. If a
 * malicious file takes more, its pages are not fetched.
 */
export const MAX_STEPS = 5_000_000;

/** The comparison steps left; counted down. */
export interface StepBudget {
  left: number;
}

/**
 * Tells whether a URL may be fetched. The longest matching rule decides; `Allow` wins over a `Disallow` of the same length (RFC 9309
 * section 2.2.2). `/robots.txt` itself is always allowed. An `Allow` rule is returned only if it wins over a `Disallow`.
 *
 * @param href the WHATWG serialisation of an http URL, as it is fetched
 */
export function decide(
  { allow, disallow }: RobotsRules,
  href: string,
  budget: StepBudget = { left: MAX_STEPS },
): RobotsDecision {
  if (disallow.length === 0) return { isAllowed: true };
  const path = comparablePath(href);
  if (path === '/robots.txt') return { isAllowed: true };
  const forbidding = disallow.find((pattern) => matches(pattern, path, budget));
  if (forbidding === undefined) return { isAllowed: budget.left >= 0 };
  const allowing = allow.find((pattern) => pattern.length < forbidding.length || matches(pattern, path, budget));
  if (budget.left < 0) return { isAllowed: false };
  if (allowing === undefined || allowing.length < forbidding.length)
    return { isAllowed: false, rule: { kind: 'Disallow', pattern: forbidding } };
  return { isAllowed: true, rule: { kind: 'Allow', pattern: allowing } };
}

/**
 * Does a pattern match the beginning of a path, or all of it if it ends in `$`? After a mismatch, the last `*` takes one more
 * octet, so this is quadratic at worst. Once the budget is used up, the answer is no.
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

/** Returns a rule's pattern in comparable form; nothing if it is empty, or longer than any URL. */
export function comparablePattern(text: string): string | undefined {
  if (text === '' || text.length > MAX_URL_LENGTH) return undefined;
  const isAnchored = text.endsWith('$');
  const body = isAnchored ? text.slice(0, -1) : text;
  return comparable(body).replaceAll('$', '%24').replace(/\*+/g, '*') + (isAnchored ? '$' : '');
}

/** Returns path and query of a URL in comparable form, in which the wildcards of rules are plain characters. */
function comparablePath(href: string): string {
  const start = href.indexOf('/', href.indexOf('//') + 2);
  const path = start < 0 ? '/' : href.slice(start);
  return comparable(path).replaceAll('*', '%2A').replaceAll('$', '%24');
}

/**
 * Gives all spellings of a path one form (RFC 9309 section 2.2.2): escapes of unreserved characters are decoded, other escapes
 * written in upper case, and characters that a URI may not contain are escaped. So is the apostrophe, which the URL Standard
 * escapes in queries only. Invalid escapes stay as they are.
 *
 * @param octets text in which each character is one octet; each octet beyond ASCII is escaped by itself
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
