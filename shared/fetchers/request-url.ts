import { FetchError } from '../ports/fetcher.ts';

/** Returns the path and query of a URL as a request names them. An empty query counts: `/list?` is another page than `/list`. */
export function requestTarget({ pathname, search, href, hash }: URL): string {
  const isEmptyQuery = search === '' && href.endsWith('?', href.length - hash.length);
  return pathname + (isEmptyQuery ? '?' : search);
}

/**
 * Parses the URL of a request.
 *
 * @throws {FetchError} with `bad_url` if it isn't an http or https URL
 */
export function requestUrl(text: string): URL {
  const url = URL.parse(text);
  if (url === null) throw new FetchError('bad_url', 'Invalid URL');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new FetchError('bad_url', `Unsupported protocol "${url.protocol}"`);
  }
  // Some clients read such a URL as the path of a socket on this machine.
  if (url.hostname === 'unix') throw new FetchError('bad_url', 'Using UNIX domain sockets is not supported');
  return url;
}
