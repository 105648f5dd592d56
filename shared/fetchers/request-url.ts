import { FetchError } from '../ports/fetcher.ts';

/** The URL to ask for. Throws a {@link FetchError} with `bad_url` for what is no URL of HTTP. */
export function requestUrl(text: string): URL {
  const url = URL.parse(text);
  if (url === null) throw new FetchError('bad_url', 'Invalid URL');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new FetchError('bad_url', `Unsupported protocol "${url.protocol}"`);
  }
  // Some clients take it for the path of a socket of this machine.
  if (url.hostname === 'unix') throw new FetchError('bad_url', 'Using UNIX domain sockets is not supported');
  return url;
}
