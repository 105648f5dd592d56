import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../task/durations.ts';
import { headerValueProblem } from '../task/host/host-headers.ts';
import { isNameServer } from '../task/host/name-server.ts';
import { type AllowedPrivate, parsePrivateHosts } from '../task/host/private-address.ts';
import { type ProxyAddress, parseProxies } from '../task/host/proxy-list.ts';
import { lastmodEnd, type Moment } from '../task/sitemap/lastmod.ts';
import { isUrlPattern } from '../task/url/glob.ts';

/** Reads one setting's text: a value, or what was expected instead, as the middle of "expected X to be …, got …". */
export type Parser<T> = (text: string) => { readonly value: T } | { readonly expected: string };

export function text(): Parser<string> {
  return (given) => ({ value: given });
}

/** What a header of HTTP can hold. */
export function headerValue(): Parser<string> {
  return (given) =>
    headerValueProblem(given) === undefined
      ? { value: given }
      : { expected: 'a text of one line, without characters beyond U+00FF' };
}

export function integer({ min, max }: { readonly min: number; readonly max: number }): Parser<number> {
  return (given) => {
    const value = /^\d+$/.test(given) ? Number(given) : Number.NaN;
    return value >= min && value <= max ? { value } : { expected: `a whole number from ${min} to ${max}` };
  };
}

export function oneOf<T extends string>(...allowed: readonly T[]): Parser<T> {
  return (given) => {
    const value = allowed.find((each) => each === given);
    return value === undefined ? { expected: `one of ${allowed.join(', ')}` } : { value };
  };
}

/** Some of these words, comma-separated, in the order of the words; or none. */
export function someOf<T extends string>(...allowed: readonly T[]): Parser<readonly T[]> {
  return (given) => {
    const words = given === 'none' ? [] : given.split(',').map((word) => word.trim());
    return words.every((word) => allowed.some((each) => each === word))
      ? { value: allowed.filter((each) => words.includes(each)) }
      : { expected: `some of ${allowed.join(', ')}, or none` };
  };
}

export function yesNo(): Parser<boolean> {
  return (given) => {
    if (['true', 'yes', 'on', '1'].includes(given)) return { value: true };
    if (['false', 'no', 'off', '0', ''].includes(given)) return { value: false };
    return { expected: 'true or false' };
  };
}

/** A comma-separated list; empty entries are dropped. */
export function list(): Parser<readonly string[]> {
  return (given) => ({ value: entriesOf(given) });
}

/** The entries of such a list. */
export function entriesOf(given: string): readonly string[] {
  return given
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}

/** Patterns for URLs, comma-separated; see {@link matchesUrl}. */
export function urlPatterns(): Parser<readonly string[]> {
  return (given) => {
    const patterns = entriesOf(given);
    return patterns.every(isUrlPattern)
      ? { value: patterns }
      : { expected: 'patterns that begin with /, * or https://, like /news/* or *.pdf, comma-separated' };
  };
}

/** `none` means 0; anything else goes to the other parser. */
export function orNone(parser: Parser<number>): Parser<number> {
  return (given) => {
    if (given === 'none') return { value: 0 };
    const read = parser(given);
    return 'value' in read ? read : { expected: `${read.expected}, or none` };
  };
}

/** `auto` stays a word; anything else goes to the other parser. */
export function orAuto(parser: Parser<number>): Parser<number | 'auto'> {
  return (given) => {
    if (given === 'auto') return { value: given };
    const read = parser(given);
    return 'value' in read ? read : { expected: `${read.expected}, or auto` };
  };
}

/** The other parser's value, or undefined for an empty text. */
export function optional<T>(parser: Parser<T>): Parser<T | undefined> {
  return (given) => (given === '' ? { value: undefined } : parser(given));
}

/** Name servers by their addresses, comma-separated; see {@link isNameServer}. */
export function nameServers(): Parser<readonly string[]> {
  return (given) => {
    const servers = entriesOf(given);
    return servers.every(isNameServer)
      ? { value: servers }
      : { expected: 'addresses of name servers, like 192.0.2.53, 192.0.2.53:5353 or [2001:db8::53]:5353' };
  };
}

/** Which private addresses may be fetched from; see {@link parsePrivateHosts}. */
export function privateHosts(): Parser<AllowedPrivate> {
  return (given) => {
    const parsed = parsePrivateHosts(entriesOf(given));
    return 'problems' in parsed
      ? { expected: `CIDRs, addresses or host names: ${parsed.problems.join('; ')}` }
      : { value: parsed };
  };
}

/** The proxies to go through; `none` for none. See {@link parseProxies}. */
export function proxies(): Parser<readonly ProxyAddress[]> {
  return (given) => {
    if (given === 'none') return { value: [] };
    const parsed = parseProxies(entriesOf(given));
    return 'problems' in parsed
      ? { expected: `none, or URLs of proxies: ${parsed.problems.join('; ')}` }
      : { value: parsed };
  };
}

const UNITS_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: SECOND_MS,
  m: MINUTE_MS,
  min: MINUTE_MS,
  h: HOUR_MS,
  d: DAY_MS,
};

/** A century, on both sides of which there are dates. */
const MOST_DAYS = 36_500;

/** `500ms`, `30s`, `1.5h`, `7d`, as whole milliseconds: Redis takes no others, and 1.1 × 3 600 000 is none. */
export function duration({ minMs = 1 }: { readonly minMs?: number } = {}): Parser<number> {
  return (given) => {
    const [, amount, unit = ''] = /^(\d+(?:\.\d+)?)\s*(ms|s|min|m|h|d)$/.exec(given) ?? [];
    const value = Number(amount) * (UNITS_MS[unit] ?? Number.NaN);
    if (Number.isNaN(value)) return { expected: 'a duration like 500ms, 30s, 10min, 6h or 7d' };
    const isWithin = value >= minMs && value <= MOST_DAYS * DAY_MS;
    const least = minMs % SECOND_MS === 0 ? `${minMs / SECOND_MS}s` : `${minMs}ms`;
    return isWithin ? { value: Math.round(value) } : { expected: `a duration from ${least} to ${MOST_DAYS}d` };
  };
}

/** `2026-11-01`, `2026-11-01T12:00Z`, or how long ago: `7d`. */
export function moment(): Parser<Moment> {
  return (given) => {
    const ago = duration()(given);
    if ('value' in ago) return { value: { agoMs: ago.value } };
    const isDate = /^\d{4}-\d\d-\d\d(T|$)/.test(given) && lastmodEnd(given) !== undefined;
    // As of a lastmod, a time without a zone is UTC, on whatever machine.
    const isLocal = /T[\d:.]+$/.test(given);
    const at = isDate ? Date.parse(isLocal ? `${given}Z` : given) : Number.NaN;
    return Number.isNaN(at) ? { expected: 'a date like 2026-11-01, or how long ago, like 7d' } : { value: { at } };
  };
}

/** By 1024 with an `i`, by 1000 without. */
const UNITS_BYTES: Readonly<Record<string, number>> = {
  ...{ B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 },
  ...{ kB: 1_000, KB: 1_000, MB: 1_000_000, GB: 1_000_000_000 },
};

/** `10MiB` (10 × 1024 × 1024), `10MB` (10 000 000), as bytes. */
export function bytes(): Parser<number> {
  return (given) => {
    const [, amount, unit = ''] = /^(\d+)\s*([kKMG]?i?B)$/.exec(given) ?? [];
    const value = Number(amount) * (UNITS_BYTES[unit] ?? Number.NaN);
    return value > 0
      ? { value }
      : { expected: 'a size like 10MiB (10 × 1024 × 1024 bytes) or 10MB (10 000 000 bytes)' };
  };
}

/** The fastest rate that can be kept exactly: the clock that paces hosts counts milliseconds. */
const MAX_RATE_PER_MINUTE = 6_000;
/** Of the slowest, 0.01/h: a host's next turn has to be a moment that every store can keep. */
const MAX_INTERVAL_MS = 100 * HOUR_MS;

/** `2/s`, `60/min`, `100/h`, as milliseconds between two requests; `none` as 0. */
export function rate(): Parser<number> {
  return (given) => {
    if (given === 'none') return { value: 0 };
    const [, amount, unit = ''] = /^(\d+(?:\.\d+)?)\/(s|min|h)$/.exec(given) ?? [];
    const perMinute = (Number(amount) * MINUTE_MS) / (UNITS_MS[unit] ?? Number.NaN);
    const intervalMs = Math.ceil(MINUTE_MS / perMinute);
    if (perMinute <= MAX_RATE_PER_MINUTE && intervalMs <= MAX_INTERVAL_MS) return { value: intervalMs };
    return { expected: `a rate like 2/s, 60/min or 100/h, from 0.01/h to ${MAX_RATE_PER_MINUTE}/min, or none` };
  };
}

/** What Postgres looks in by itself. Others are named by its own option: `schema` is that of other programs. */
const USUAL_SCHEMA = 'public';

/** `jsonl` as undefined: files. Else the URL of a store for records. */
export function sink(): Parser<string | undefined> {
  return (given) => {
    if (given === 'jsonl') return { value: undefined };
    const read = url('postgres', 'postgresql')(given);
    const hasSeveral = namesSeveralHosts(given);
    if ('value' in read && !hasSeveral) {
      const schema = new URL(given).searchParams.get('schema') ?? USUAL_SCHEMA;
      if (schema === USUAL_SCHEMA) return read;
      const mend = "without schema, which Postgres doesn't know: options=-csearch_path%3Dname";
      return { expected: `jsonl, or a URL that begins with postgres://, ${mend}` };
    }
    const form = /^postgres(ql)?:/.test(given) ? `, with ${hasSeveral ? ONE_HOST : ESCAPED_IN_LOGIN}` : '';
    return { expected: `jsonl, or a URL that begins with postgres://${form}` };
  };
}

/** How a login is written in a URL that can't be read. */
export const ESCAPED_IN_LOGIN = '/ ? # @ in its login as %2F %3F %23 %40';

/** The same where several servers are named. */
export const ONE_HOST = 'one host, whose name may have several addresses';

/** Does a URL name several hosts, as other clients take it: `redis://a:6379,b:6379`, `amqp://a;amqp://b`? */
export function namesSeveralHosts(given: string): boolean {
  const [, rest = '', ...others] = given.split('://');
  if (others.length > 0) return true;
  const [authority = '', ...behind] = rest.split(/[/?#]/);
  // Else a login may hold what should be escaped.
  return /[,;]/.test(authority.slice(authority.lastIndexOf('@') + 1)) && behind.every((part) => !part.includes('@'));
}

/** A URL of one of these schemes. */
export function url(...schemes: readonly string[]): Parser<string> {
  return (given) => {
    const parsed = URL.parse(given);
    if (parsed !== null && schemes.includes(parsed.protocol.slice(0, -1))) return { value: given };
    return { expected: urlOf(schemes) };
  };
}

/** What a URL of these schemes is called in messages. */
export function urlOf(schemes: readonly string[]): string {
  return `a URL that begins with ${schemes.map((scheme) => (scheme === 'mailto' ? 'mailto:' : `${scheme}://`)).join(' or ')}`;
}
