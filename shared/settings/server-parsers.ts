import { isIPv6 } from 'node:net';
import { ESCAPED_IN_LOGIN, namesSeveralHosts, ONE_HOST, type Parser, urlOf } from './parsers.ts';

const REDIS_SCHEMES = ['redis', 'rediss'];
const RABBITMQ_SCHEMES = ['amqp', 'amqps'];
/** Those of Valkey, which speaks the same: each is the other as far as its `s`. */
const VALKEY_SCHEME = /^valkey(?=s?:\/\/)/;
/** What other clients of RabbitMQ read of TLS in its URL, and the setting that it is here. */
const RABBITMQ_TLS: Readonly<Record<string, string>> = {
  cacertfile: 'RABBITMQ_CA_FILE',
  cafile: 'RABBITMQ_CA_FILE',
  certfile: 'RABBITMQ_CERT_FILE',
  keyfile: 'RABBITMQ_KEY_FILE',
};
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
    const file = Object.keys(RABBITMQ_TLS).find((name) => searchParams.has(name));
    if (file !== undefined)
      return { expected: `${urlOf(RABBITMQ_SCHEMES)}, without ${file}: ${RABBITMQ_TLS[file]} names that file` };
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
    if (/^\/?\d*$/.test(pathname) && /^\d*$/.test(searchParams.get('db') ?? '')) return read;
    return { expected: `${urlOf(REDIS_SCHEMES)}, with nothing but the number of a database as its path` };
  };
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
