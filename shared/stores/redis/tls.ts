import { isIP } from 'node:net';
import type { RedisOptions } from 'ioredis';
import type { ClientTls } from '../../runtime/client-tls.ts';

/**
 * Returns the TLS options for a `rediss://` URL, and none for another. They name the server (SNI, RFC 6066), which ioredis would not
 * do by itself: the proxy in front of a managed service chooses the server by that name.
 */
export function tlsOf(url: string, tls: ClientTls | undefined): Pick<RedisOptions, 'tls'> {
  const { protocol, hostname } = new URL(url);
  if (protocol !== 'rediss:') return {};
  const isName = isIP(hostname.replace(/^\[|\]$/g, '')) === 0;
  return { tls: { ...tls?.options, ...(isName ? { servername: hostname } : {}) } };
}
