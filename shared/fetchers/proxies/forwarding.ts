import type { ProxyAddress } from '../../task/host/proxy-list.ts';
import { requestTarget } from '../request-url.ts';
import { authorizationOf } from './tunnel.ts';

/**
 * Is a request for this URL sent to the proxy, which then asks the target itself? If so, an answer may be the proxy's own.
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
 * The first line and headers of a request in absolute form. The absolute form is put together from the URL's parts, since
 * resolving a path that begins with two slashes would give another host.
 */
export function forwardedRequest(
  proxy: ProxyAddress,
  url: URL,
): { readonly path: string; readonly headers: Readonly<Record<string, string>> } {
  const { host } = url;
  return { path: `http://${host}${requestTarget(url)}`, headers: { host, ...authorizationOf(proxy) } };
}
