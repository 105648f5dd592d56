import { isIP } from 'node:net';
import type { RedisOptions } from 'ioredis';

/**
 * How TLS is spoken with the server that a URL names, if it is `rediss://`. ioredis would not say which server it wants: what stands in
 * front of many, as managed services have it, goes by that name (SNI, RFC 6066).
 */
export function tlsOf(url: string): Pick<RedisOptions, 'tls'> {
  const { protocol, hostname } = new URL(url);
  if (protocol !== 'rediss:') return {};
  return { tls: isIP(hostname.replace(/^\[|\]$/g, '')) === 0 ? { servername: hostname } : {} };
}
