import type { FetchRequest, PageRequest } from '../ports/fetcher.ts';
import type { HostHeaders } from '../task/host/host-headers.ts';
import { authorizationOf } from '../task/url/logins.ts';
import { ACCEPT_ENCODING } from './decoding/content-coding.ts';

/** A request for a page or for a document. */
export interface Asked
  extends FetchRequest,
    Partial<Pick<PageRequest, 'accepts' | 'takes' | 'validators' | 'maxBodyBytes' | 'send'>> {
  readonly timeoutMs?: number;
}

const ACCEPT = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

/** The headers of every request. */
export function commonHeaders(userAgent: string): Readonly<Record<string, string>> {
  return { accept: ACCEPT, 'accept-encoding': ACCEPT_ENCODING, 'user-agent': userAgent };
}

/**
 * Returns the headers that this request adds to the common ones or overrides. The deployment's headers for a host override a login; those
 * of `send` override both.
 */
export function ownHeaders(request: Asked, hostHeaders: HostHeaders): Readonly<Record<string, string>> | undefined {
  const { login, url, redirectedFrom, validators, send, cookie, isForOthers } = request;
  const own = isForOthers ? undefined : hostHeaders.of(url, redirectedFrom);
  const isPlain = login === undefined && validators === undefined && send === undefined && cookie === undefined;
  if (own === undefined && isPlain) return undefined;
  const fixed = send?.headers?.cookie ?? own?.cookie;
  return {
    ...(login === undefined ? {} : { authorization: authorizationOf(login) }),
    ...own,
    ...(validators?.etag === undefined ? {} : { 'if-none-match': validators.etag }),
    ...(validators?.modified === undefined ? {} : { 'if-modified-since': validators.modified }),
    ...send?.headers,
    ...(cookie === undefined ? {} : { cookie: mergedCookies(fixed, cookie) }),
  };
}

/** Merges two `Cookie` headers into one. If both have a cookie of the same name, the one in `fixed` wins. */
function mergedCookies(fixed: string | undefined, cookie: string): string {
  if (fixed === undefined) return cookie;
  const nameOf = (pair: string): string => pair.slice(0, Math.max(0, pair.indexOf('='))).trim();
  const names = new Set(fixed.split(';').map(nameOf));
  return [fixed, ...cookie.split('; ').filter((pair) => !names.has(nameOf(pair)))].join('; ');
}
