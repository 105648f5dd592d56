import { isIPv6 } from 'node:net';
import { ESCAPED_IN_LOGIN, namesSeveralHosts, ONE_HOST, type Parser, urlOf } from './parsers.ts';

/** For each unsupported parameter of a URL's query, the advice on what to write instead. */
type Misplaced = Readonly<Record<string, string>>;

const REDIS_SCHEMES = ['redis', 'rediss'];
const RABBITMQ_SCHEMES = ['amqp', 'amqps'];
/** Matches the `valkey` of `valkey://` and `valkeys://`: replaced by `redis`, they are the schemes of Redis, whose protocol Valkey speaks. */
const VALKEY_SCHEME = /^valkey(?=s?:\/\/)/;
/** TLS parameters that other RabbitMQ clients read from the URL, and the settings to use here. */
const RABBITMQ_MISPLACED: Misplaced = {
  cacertfile: 'RABBITMQ_CA_FILE names that file',
  cafile: 'RABBITMQ_CA_FILE names that file',
  certfile: 'RABBITMQ_CERT_FILE names that file',
  keyfile: 'RABBITMQ_KEY_FILE names that file',
};
/** The same for Redis. */
const REDIS_MISPLACED: Misplaced = {
  ssl_ca_certs: 'REDIS_CA_FILE names that file',
  ssl_certfile: 'REDIS_CERT_FILE names that file',
  ssl_keyfile: 'REDIS_KEY_FILE names that file',
  tls: 'rediss:// uses TLS',
  keyPrefix: 'KEY_PREFIX sets it',
};
/** Parameters kept in the query of a Redis URL. Any other would be taken by our client as an option that overrides ours. */
const REDIS_QUERY: ReadonlySet<string> = new Set(['db', 'family', 'username', 'password']);
/** Values of `auth_mechanism`, as RabbitMQ's own clients name them. */
const LOGINS = ['plain', 'external'];
const RABBITMQ_NUMBERS = ['heartbeat', 'channelMax', 'frameMax', 'maxFrameSize'];
/** Those that limit the size of a frame; 0 is no limit. */
const RABBITMQ_FRAME_SIZES = ['frameMax', 'maxFrameSize'];
/** The least that AMQP 0-9-1 allows (`frame-min-size`). A broker cuts the connection if it is offered less. */
const LEAST_FRAME_BYTES = 4_096;

/** A name in RabbitMQ has at most 255 bytes; this leaves room for ours. */
const MOST_PREFIX_BYTES = 200;
/** RabbitMQ declares nothing whose name begins like this, and its refusal looks like that of a wrong login. */
const RESERVED = 'amq.';

/** A prefix for the names of exchanges and queues. */
export function queuePrefix(): Parser<string> {
  return (given) => {
    if (given.startsWith(RESERVED))
      return { expected: `a text that does not begin with ${RESERVED}, which RabbitMQ keeps for itself` };
    if (Buffer.byteLength(given) > MOST_PREFIX_BYTES)
      return { expected: `a text of at most ${MOST_PREFIX_BYTES} bytes` };
    return { value: given };
  };
}

/** The name or address of a server, in the form that URLs use: an IPv6 address gets brackets if it has none. */
export function serverHost(): Parser<string> {
  return (given) => {
    const bare = given.replace(/^\[(.*)\]$/, '$1');
    const host = isIPv6(bare) ? `[${bare}]` : given;
    const isHost = (isIPv6(bare) || /^[^\s/:@?#]+$/.test(given)) && URL.canParse(`tcp://${host}`);
    return isHost ? { value: host } : { expected: 'a host name or an address: no scheme, no port' };
  };
}

/** The URL of one server, with one of these schemes; its login, if any, must be decodable. */
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

/** The URL of RabbitMQ. Parameters of its query that its client reads as numbers must be numbers. */
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
    const small = RABBITMQ_FRAME_SIZES.find((name) => isTooSmall(Number(searchParams.get(name))));
    if (small !== undefined)
      return { expected: `${urlOf(RABBITMQ_SCHEMES)}, with at least ${LEAST_FRAME_BYTES} as its ${small}` };
    if (LOGINS.includes(searchParams.get('auth_mechanism') ?? 'plain')) return read;
    return { expected: `${urlOf(RABBITMQ_SCHEMES)}, with ${LOGINS.join(' or ')} as its auth_mechanism` };
  };
}

/** The URL of Redis, or of Valkey, which is returned as one of Redis. Its path, or `?db=`, is a database number. */
export function redisUrl(): Parser<string> {
  const parse = serverUrl(...REDIS_SCHEMES);
  return (given) => {
    const read = parse(given.replace(VALKEY_SCHEME, 'redis'));
    if ('expected' in read) return read;
    const { pathname, searchParams } = new URL(read.value);
    const isNumbered = /^\/?\d*$/.test(pathname) && /^\d*$/.test(searchParams.get('db') ?? '');
    if (!isNumbered) return { expected: `${urlOf(REDIS_SCHEMES)}, with only a database number as its path` };
    const misplaced = misplacedIn(searchParams, REDIS_MISPLACED);
    if (misplaced !== undefined) return { expected: `${urlOf(REDIS_SCHEMES)}, without ${misplaced}` };
    return { value: withQuery(read.value, searchParams, REDIS_QUERY) };
  };
}

function isTooSmall(frameBytes: number): boolean {
  return frameBytes > 0 && frameBytes < LEAST_FRAME_BYTES;
}

function misplacedIn(query: URLSearchParams, misplaced: Misplaced): string | undefined {
  const name = Object.keys(misplaced).find((each) => query.has(each));
  return name === undefined ? undefined : `${name}: ${misplaced[name]}`;
}

/** Returns a URL with only these parameters of its query. */
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
