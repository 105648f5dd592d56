import { isIP } from 'node:net';
import type { RedisOptions } from 'ioredis';
import type { ClientTls } from '../../runtime/client-tls.ts';

/**
 * How TLS is spoken with the server that a URL names, if it is `rediss://`. ioredis would not say which server it wants: what stands in
 * front of many, as managed services have it, goes by that name (SNI, RFC 6066).
 */
export function tlsOf(url: string, tls: ClientTls | undefined): Pick<RedisOptions, 'tls'> {
  const { protocol, hostname } = new URL(url);
  if (protocol !== 'rediss:') return {};
  const isName = isIP(hostname.replace(/^\[|\]$/g, '')) === 0;
  return { tls: { ...tls?.options, ...(isName ? { servername: hostname } : {}) } };
}
