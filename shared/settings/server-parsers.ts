import { isIPv6 } from 'node:net';
import { ESCAPED_IN_LOGIN, namesSeveralHosts, ONE_HOST, type Parser, urlOf } from './parsers.ts';

/** By names of a URL's query: what to write instead. */
type Misplaced = Readonly<Record<string, string>>;

const REDIS_SCHEMES = ['redis', 'rediss'];
const RABBITMQ_SCHEMES = ['amqp', 'amqps'];
/** Those of Valkey, which speaks the same: each is the other as far as its `s`. */
const VALKEY_SCHEME = /^valkey(?=s?:\/\/)/;
/** What other clients of RabbitMQ read of TLS in its URL, and what it is here. */
const RABBITMQ_MISPLACED: Misplaced = {
  cacertfile: 'RABBITMQ_CA_FILE names that file',
  cafile: 'RABBITMQ_CA_FILE names that file',
  certfile: 'RABBITMQ_CERT_FILE names that file',
  keyfile: 'RABBITMQ_KEY_FILE names that file',
};
/** The same of Redis. */
const REDIS_MISPLACED: Misplaced = {
  ssl_ca_certs: 'REDIS_CA_FILE names that file',
  ssl_certfile: 'REDIS_CERT_FILE names that file',
  ssl_keyfile: 'REDIS_KEY_FILE names that file',
  tls: 'rediss:// is with TLS',
  keyPrefix: 'KEY_PREFIX is that',
};
/** Of the query of a Redis' URL. The rest is for other programs; its client would take it for options, before our own. */
const REDIS_QUERY: ReadonlySet<string> = new Set(['db', 'family', 'username', 'password']);
/** What its own clients call how they log in. */
const LOGINS = ['plain', 'external'];
const RABBITMQ_NUMBERS = ['heartbeat', 'channelMax', 'frameMax', 'maxFrameSize'];

/** The name or address of a server, as it is in URLs: an IPv6 address in brackets, which may be missing. */
export function serverHost(): Parser<string> {
  return (given) => {
    const bare = given.replace(/^\[(.*)\]$/, '$1');
    const host = isIPv6(bare) ? `[${bare}]` : given;
    const isHost = (isIPv6(bare) || /^[^\s/:@?#]+$/.test(given)) && URL.canParse(`tcp://${host}`);
    return isHost ? { value: host } : { expected: 'a host name or an address: no scheme, no port' };
  };
}

/** The URL of a server that one may have to log in to: of these schemes, and with a login that can be decoded. */
function serverUrl(...schemes: readonly string[]): Parser<string> {
  const expected = urlOf(schemes);
  return (given) => {
    const parsed = URL.parse(given);
    const isOfScheme = schemes.some((scheme) => given.startsWith(`${scheme}://`));
    if (!isOfScheme) return { expected };
    if (namesSeveralHosts(given)) return { expected: `${expected}, with ${ONE_HOST}` };
    if (parsed === null) return { expected: `${expected}, with ${ESCAPED_IN_LOGIN}` };
    if (isDecodable(parsed.username) && isDecodable(parsed.password)) return { value: given };
    return { expected: `${expected}, with % in its login as %25` };
  };
}

/** The same of a RabbitMQ, whose client takes numbers in its query. */
export function rabbitMqUrl(): Parser<string> {
  const parse = serverUrl(...RABBITMQ_SCHEMES);
  return (given) => {
    const read = parse(given);
    if ('expected' in read) return read;
    const { searchParams } = new URL(given);
    const misplaced = misplacedIn(searchParams, RABBITMQ_MISPLACED);
    if (misplaced !== undefined) return { expected: `${urlOf(RABBITMQ_SCHEMES)}, without ${misplaced}` };
    const wrong = RABBITMQ_NUMBERS.find((name) => !/^\d+$/.test(searchParams.get(name) ?? '0'));
    if (wrong !== undefined) return { expected: `${urlOf(RABBITMQ_SCHEMES)}, with a whole number as its ${wrong}` };
    if (LOGINS.includes(searchParams.get('auth_mechanism') ?? 'plain')) return read;
    return { expected: `${urlOf(RABBITMQ_SCHEMES)}, with ${LOGINS.join(' or ')} as its auth_mechanism` };
  };
}

/** The same of a Redis, or of a Valkey, whose URL is read as one of Redis: its path, or `?db=`, is the number of a database. */
export function redisUrl(): Parser<string> {
  const parse = serverUrl(...REDIS_SCHEMES);
  return (given) => {
    const read = parse(given.replace(VALKEY_SCHEME, 'redis'));
    if ('expected' in read) return read;
    const { pathname, searchParams } = new URL(read.value);
    const isNumbered = /^\/?\d*$/.test(pathname) && /^\d*$/.test(searchParams.get('db') ?? '');
    if (!isNumbered)
      return { expected: `${urlOf(REDIS_SCHEMES)}, with nothing but the number of a database as its path` };
    const misplaced = misplacedIn(searchParams, REDIS_MISPLACED);
    if (misplaced !== undefined) return { expected: `${urlOf(REDIS_SCHEMES)}, without ${misplaced}` };
    return { value: withQuery(read.value, searchParams, REDIS_QUERY) };
  };
}

function misplacedIn(query: URLSearchParams, misplaced: Misplaced): string | undefined {
  const name = Object.keys(misplaced).find((each) => query.has(each));
  return name === undefined ? undefined : `${name}: ${misplaced[name]}`;
}

/** A URL with these parts of its query, and no others. */
function withQuery(url: string, query: URLSearchParams, names: ReadonlySet<string>): string {
  const kept = [...query].filter(([name]) => names.has(name));
  if (kept.length === query.size) return url;
  return [url.slice(0, url.indexOf('?')), ...(kept.length === 0 ? [] : [new URLSearchParams(kept)])].join('?');
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
