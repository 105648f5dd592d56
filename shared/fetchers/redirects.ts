import type { PlainResponse, Request } from 'got';
import { FetchError } from '../fetcher.ts';
import { redirectOf } from '../task/redirect.ts';

/** A hop's body is read, so that its connection can be used again, unless it is longer than this. */
const MOST_HOP_BYTES = 65_536;

/**
 * Why an answer that is a redirect must not be followed; nothing if it may, or if it is none.
 *
 * got asks first and then follows. Its own refusals come later, and read the body of the hop to its end, however long.
 */
export function redirectProblem(response: PlainResponse, maxRedirects: number): FetchError | undefined {
  const { statusCode: status, redirectUrls, url } = response;
  const redirect = redirectOf(status, response.headers.location, url);
  if (redirect === undefined) return undefined;
  if (redirectUrls.length >= maxRedirects) {
    return new FetchError('redirects', `The request was redirected more than ${maxRedirects} times`, { status });
  }
  return 'problem' in redirect ? new FetchError('bad_url', redirect.problem, { status }) : undefined;
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
