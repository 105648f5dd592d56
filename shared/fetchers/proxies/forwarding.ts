import type { ProxyAddress } from '../../task/host/proxy-list.ts';
import { authorizationOf } from './tunnel.ts';

/**
 * Is a request for this URL sent to the proxy itself, which asks the target, so that an answer may be its own?
 *
 * | target     | proxy           | how                                                                              |
 * |------------|-----------------|----------------------------------------------------------------------------------|
 * | `https://` | any             | a tunnel for each host: CONNECT, or SOCKS                                         |
 * | `http://`  | SOCKS           | the same                                                                         |
 * | `http://`  | HTTP, HTTPS     | absolute form (RFC 9112 section 3.2.2): most such proxies tunnel to port 443 only  |
 */
export function isForwardedBy({ scheme }: ProxyAddress, url: string): boolean {
  return scheme !== 'socks5' && url.startsWith('http:');
}

/**
 * What a request in absolute form has in its first line and its headers. The absolute form is put together from the URL's parts: of a path
 * that begins with two slashes, resolving it would make another host.
 */
export function forwardedRequest(
  proxy: ProxyAddress,
  { host, pathname, search }: URL,
): { readonly path: string; readonly headers: Readonly<Record<string, string>> } {
  return { path: `http://${host}${pathname}${search}`, headers: { host, ...authorizationOf(proxy) } };
}
