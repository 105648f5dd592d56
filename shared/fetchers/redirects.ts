import type { PlainResponse, Request } from 'got';
import { FetchError } from '../fetcher.ts';
import { withoutCredentials } from '../task/url.ts';

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** A hop's body is read, so that its connection can be used again, unless it is longer than this. */
const MOST_HOP_BYTES = 65_536;

/**
 * Why an answer that is a redirect must not be followed; nothing if it may, or if it is none.
 *
 * got asks first and then follows. Its own refusals come later, and read the body of the hop to its end, however long.
 */
export function redirectProblem(response: PlainResponse, maxRedirects: number): FetchError | undefined {
  const { statusCode: status, redirectUrls, url } = response;
  const { location } = response.headers;
  // An empty location is none, to got.
  if (!location || !REDIRECTS.has(status)) return undefined;
  if (redirectUrls.length >= maxRedirects) {
    return new FetchError('redirects', `The request was redirected more than ${maxRedirects} times`, { status });
  }
  // Header bytes arrive as Latin-1; what servers mean is UTF-8.
  const target = URL.parse(Buffer.from(location, 'latin1').toString(), url);
  if (target === null || !isHttp(target)) {
    const where = withoutCredentials(location).slice(0, 200);
    return new FetchError('bad_url', `The redirect leads to no http URL: ${where}`, { status });
  }
  return undefined;
}

/** Lets go of the answer that redirected: what is left of its body is read up to a limit, and not for longer than `next`. */
export function leaveHop(hop: PlainResponse, next: Request): void {
  if (hop.complete) return;
  // got still listens, and would fail the request that has moved on when this body breaks off.
  hop.removeAllListeners('aborted');
  hop.removeAllListeners('error');
  hop.on('error', () => {});
  let left = MOST_HOP_BYTES;
  hop.on('data', (chunk: Uint8Array) => {
    left -= chunk.length;
    if (left < 0) hop.destroy();
  });
  const giveUp = (): void => {
    if (!hop.complete) hop.destroy();
  };
  next.once('end', giveUp);
  next.once('close', giveUp);
}

/** got takes the host name `unix` for a socket in the file system. */
function isHttp(url: URL): boolean {
  return (url.protocol === 'http:' || url.protocol === 'https:') && url.hostname !== 'unix';
}
