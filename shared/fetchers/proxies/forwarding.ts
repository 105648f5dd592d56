import type { ProxyAddress } from '../../task/host/proxy-list.ts';
import { requestTarget } from '../request-url.ts';
import { authorizationOf } from './tunnel.ts';

/**
 * Returns whether the proxy itself requests this URL from the target. If so, an answer may be the proxy's own.
 *
 * | target     | proxy           | how                                                                              |
 * |------------|-----------------|----------------------------------------------------------------------------------|
 * | `https://` | any             | a tunnel for each host: CONNECT, or SOCKS                                         |
 * | `http://`  | SOCKS           | the same                                                                         |
 * | `http://`  | HTTP, HTTPS     | absolute form (RFC 9112 section 3.2.2): most such proxies tunnel only to port 443  |
 */
export function isForwardedBy({ scheme }: ProxyAddress, url: string): boolean {
  return scheme !== 'socks5' && url.startsWith('http:');
}

/**
 * Returns the request target and the headers of a request in absolute form. The target is put together from the URL's parts, since
 * resolving a path that begins with two slashes would give another host.
 */
export function forwardedRequest(
  proxy: ProxyAddress,
  url: URL,
): { readonly path: string; readonly headers: Readonly<Record<string, string>> } {
  const { host } = url;
  return { path: `http://${host}${requestTarget(url)}`, headers: { host, ...authorizationOf(proxy) } };
}
