import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../task/durations.ts';
import { headerValueProblem } from '../task/host/host-headers.ts';
import { isNameServer } from '../task/host/name-server.ts';
import { type AllowedPrivate, parsePrivateHosts } from '../task/host/private-address.ts';
import { type ProxyAddress, parseProxies } from '../task/host/proxy-list.ts';
import { lastmodEnd, type Moment } from '../task/sitemap/lastmod.ts';
import { isUrlPattern } from '../task/url/glob.ts';

/** Parses the text of one setting. On failure it returns the expectation that fits into "expected X to be …, got …". */
export type Parser<T> = (text: string) => { readonly value: T } | { readonly expected: string };

export function text(): Parser<string> {
  return (given) => ({ value: given });
}

/** A value that an HTTP header can hold. */
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

/** Some of these words, comma-separated, or `none`. The result is in the order of `allowed`. */
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

/** Splits a comma-separated list into its non-empty entries. */
export function entriesOf(given: string): readonly string[] {
  return given
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}

/** URL patterns, comma-separated; see {@link matchesUrl}. */
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

/** Addresses of name servers, comma-separated; see {@link isNameServer}. */
export function nameServers(): Parser<readonly string[]> {
  return (given) => {
    const servers = entriesOf(given);
    return servers.every(isNameServer)
      ? { value: servers }
      : { expected: 'addresses of name servers, like 192.0.2.53, 192.0.2.53:5353 or [2001:db8::53]:5353' };
  };
}

/** Private hosts and addresses that may be fetched; see {@link parsePrivateHosts}. */
export function privateHosts(): Parser<AllowedPrivate> {
  return (given) => {
    const parsed = parsePrivateHosts(entriesOf(given));
    return 'problems' in parsed
      ? { expected: `CIDRs, addresses or host names: ${parsed.problems.join('; ')}` }
      : { value: parsed };
  };
}

/** Proxies for requests, or `none`; see {@link parseProxies}. */
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

/** A hundred years: adding them to now or subtracting them still gives a valid date. */
const MOST_DAYS = 36_500;

/** `500ms`, `30s`, `1.5h`, `7d` as milliseconds. Rounded, as Redis takes whole ones only and 1.1 × 3 600 000 isn't whole. */
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

/** A date (`2026-11-01`), a time (`2026-11-01T12:00Z`) or a duration ago (`7d`). */
export function moment(): Parser<Moment> {
  return (given) => {
    const ago = duration()(given);
    if ('value' in ago) return { value: { agoMs: ago.value } };
    const isDate = /^\d{4}-\d\d-\d\d(T|$)/.test(given) && lastmodEnd(given) !== undefined;
    // A time without a zone is UTC on any machine, as in a `lastmod`.
    const isLocal = /T[\d:.]+$/.test(given);
    const at = isDate ? Date.parse(isLocal ? `${given}Z` : given) : Number.NaN;
    return Number.isNaN(at) ? { expected: 'a date like 2026-11-01, or how long ago, like 7d' } : { value: { at } };
  };
}

/** Units with an `i` are powers of 1024, those without are powers of 1000. */
const UNITS_BYTES: Readonly<Record<string, number>> = {
  ...{ B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 },
  ...{ kB: 1_000, KB: 1_000, MB: 1_000_000, GB: 1_000_000_000 },
};

/** A size in bytes: `10MiB` (10 × 1024 × 1024), `10MB` (10 000 000). */
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
/** Interval of the slowest rate, 0.01/h: every store must be able to hold the time of a host's next turn. */
const MAX_INTERVAL_MS = 100 * HOUR_MS;

/** A rate (`2/s`, `60/min`, `100/h`) as milliseconds between two requests; `none` gives 0. */
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

/** The schema that Postgres uses by default. Others are set through Postgres' `options`: the parameter `schema` is known to other programs only. */
const USUAL_SCHEMA = 'public';

/** The URL of a Postgres database for records; undefined for `jsonl`, which means files. */
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

/** Advice for a URL that can't be parsed, most likely because of its login. */
export const ESCAPED_IN_LOGIN = '/ ? # @ in its login as %2F %3F %23 %40';

/** Advice for a URL that names several servers. */
export const ONE_HOST = 'one host, whose name may have several addresses';

/** Does a URL name several hosts, as some other clients allow: `redis://a:6379,b:6379`, `amqp://a;amqp://b`? */
export function namesSeveralHosts(given: string): boolean {
  const [, rest = '', ...others] = given.split('://');
  if (others.length > 0) return true;
  const [authority = '', ...behind] = rest.split(/[/?#]/);
  // An `@` further on means an unescaped login, so a comma before it says nothing about hosts.
  return /[,;]/.test(authority.slice(authority.lastIndexOf('@') + 1)) && behind.every((part) => !part.includes('@'));
}

/** A URL with one of these schemes. */
export function url(...schemes: readonly string[]): Parser<string> {
  return (given) => {
    const parsed = URL.parse(given);
    if (parsed !== null && schemes.includes(parsed.protocol.slice(0, -1))) return { value: given };
    return { expected: urlOf(schemes) };
  };
}

/** Describes a URL with one of these schemes, for messages. */
export function urlOf(schemes: readonly string[]): string {
  return `a URL that begins with ${schemes.map((scheme) => (scheme === 'mailto' ? 'mailto:' : `${scheme}://`)).join(' or ')}`;
}
