import { FetchError, type Fetcher, type OpenResponse } from '../../shared/fetcher.ts';
import { parseRobots } from '../../shared/task/robots.ts';
import { MAX_ROBOTS_REDIRECTS, meaningOfFailure, meaningOfStatus } from '../../shared/task/robots-answer.ts';
import { ALLOW_ALL, type RobotsRules } from '../../shared/task/robots-match.ts';
import { MAX_ROBOTS_BYTES } from '../../shared/task/robots-sitemaps.ts';

/** What one request for a robots.txt came to. */
export type RobotsAnswer =
  /** `found`: there is a file. */
  | { readonly kind: 'rules'; readonly rules: RobotsRules; readonly found: boolean }
  /** `reason`: for people, the host's pause. */
  | { readonly kind: 'wait'; readonly reason: string; readonly retryAfter?: string | undefined }
  | { readonly kind: 'as_page'; readonly error: FetchError }
  | { readonly kind: 'again' };

/** A body that nobody wants is read so far, so that its connection can be used again. */
const MOST_UNWANTED_BYTES = 65_536;

/**
 * Asks an origin for its robots.txt, once. Of a longer file its first 512 000 bytes count; the rules are those of the origin
 * that was asked, wherever it redirects to.
 */
export async function requestRobots(origin: string, fetcher: Fetcher, signal: AbortSignal): Promise<RobotsAnswer> {
  try {
    const response = await fetcher.open({
      url: `${origin}/robots.txt`,
      maxBodyBytes: Number.MAX_SAFE_INTEGER,
      maxRedirects: MAX_ROBOTS_REDIRECTS,
      signal,
    });
    const { status, headers } = response;
    const meaning = meaningOfStatus(status);
    if (meaning === 'parse') {
      const file = await beginningOf(response.body, MAX_ROBOTS_BYTES);
      return { kind: 'rules', rules: parseRobots(file), found: true };
    }
    void beginningOf(response.body, MOST_UNWANTED_BYTES).catch(() => {});
    if (meaning === 'allow') return { kind: 'rules', rules: ALLOW_ALL, found: false };
    const retryAfter = headers['retry-after'];
    const asked = retryAfter === undefined ? '' : ', Retry-After';
    return { kind: 'wait', reason: `robots.txt: HTTP ${status}${asked}`, retryAfter };
  } catch (error: unknown) {
    if (!(error instanceof FetchError)) throw error;
    return answerOfFailure(error);
  }
}

function answerOfFailure(error: FetchError): RobotsAnswer {
  switch (meaningOfFailure(error.reason, error.redirected)) {
    case 'as_page':
      return { kind: 'as_page', error };
    case 'again':
      return { kind: 'again' };
    case 'wait':
      return { kind: 'wait', reason: `robots.txt: ${error.reason}` };
    default:
      return { kind: 'rules', rules: ALLOW_ALL, found: false };
  }
}

/** Reads no more than so many bytes. What was left unread is let go of. */
async function beginningOf(body: OpenResponse['body'], most: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= most) break;
  }
  return Buffer.concat(chunks, Math.min(size, most));
}
