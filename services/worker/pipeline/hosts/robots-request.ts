import {
  type DocumentRequest,
  FetchError,
  type Fetcher,
  letGo,
  type OpenDocument,
} from '../../../../shared/ports/fetcher.ts';
import type { HostTrouble } from '../../../../shared/task/host/host-trouble.ts';
import { parseRobots } from '../../../../shared/task/robots/robots.ts';
import {
  MAX_ROBOTS_REDIRECTS,
  meaningOfFailure,
  meaningOfStatus,
} from '../../../../shared/task/robots/robots-answer.ts';
import { ALLOW_ALL, type RobotsRules } from '../../../../shared/task/robots/robots-match.ts';
import { MAX_ROBOTS_BYTES, wholeLinesLength } from '../../../../shared/task/robots/robots-sitemaps.ts';
import { failureText } from '../../../../shared/task/task/judgement.ts';
import { redirectOf } from '../../../../shared/task/url/redirect.ts';

/** The result of one request for a robots.txt. */
export type RobotsAnswer =
  /** `found`: whether there is a file. */
  | { readonly kind: 'rules'; readonly rules: RobotsRules; readonly found: boolean }
  /**
   * The host must wait. `reason` is shown with its pause, `detail` with the page that needs the file. `isThrottled`: the host that answered
   * asked us to slow down.
   */
  | {
      readonly kind: 'wait';
      readonly reason: string;
      readonly detail: string;
      /** Headers of the answer, if there was one. */
      readonly headers?: Readonly<Record<string, string>>;
      readonly isThrottled?: boolean;
      /** The trouble to note for the host; `silent` if it gave no answer. */
      readonly trouble: HostTrouble;
    }
  /** The file redirects to `to`. */
  | { readonly kind: 'moved'; readonly to: string }
  | { readonly kind: 'as_page'; readonly error: FetchError }
  | { readonly kind: 'again' };

const NO_RULES: RobotsAnswer = { kind: 'rules', rules: ALLOW_ALL, found: false };

/**
 * Makes one request for an origin's robots.txt: at the origin, or at the last of `redirects`. Only the first 512 000 bytes
 * are read. The rules apply to the origin, wherever its file was found.
 */
export async function requestRobots(
  origin: string,
  redirects: readonly string[],
  fetcher: Fetcher,
  request: Pick<DocumentRequest, 'signal' | 'timings'>,
): Promise<RobotsAnswer> {
  const first = `${origin}/robots.txt`;
  const url = redirects.at(-1) ?? first;
  try {
    const response = await fetcher.open({ ...request, url, redirectedFrom: first });
    const { status, headers } = response;
    const redirect = redirectOf(status, headers.location, url);
    if (redirect !== undefined) {
      letGo(response.body);
      // An invalid redirect, or one too many, means that there is no robots.txt.
      if ('problem' in redirect || redirects.length >= MAX_ROBOTS_REDIRECTS) return NO_RULES;
      return { kind: 'moved', to: redirect.to };
    }
    const meaning = meaningOfStatus(status);
    if (meaning === 'parse') {
      const file = await beginningOf(response.body);
      return { kind: 'rules', rules: parseRobots(file), found: true };
    }
    letGo(response.body);
    if (meaning === 'allow') return NO_RULES;
    const retryAfter = headers['retry-after'];
    const asked = retryAfter === undefined ? '' : ', Retry-After';
    const isThrottled = status === 429 || retryAfter !== undefined;
    const trouble = { kind: 'answered', reason: `robots.txt ${status}` } as const;
    const answered = `robots.txt: HTTP ${status}${asked}`;
    return { kind: 'wait', reason: answered, detail: answered, headers, isThrottled, trouble };
  } catch (error: unknown) {
    if (!(error instanceof FetchError)) throw error;
    return answerOfFailure(error, redirects.length > 0);
  }
}

function answerOfFailure(error: FetchError, isRedirected: boolean): RobotsAnswer {
  switch (meaningOfFailure(error.reason, isRedirected)) {
    case 'as_page':
      return { kind: 'as_page', error };
    case 'again':
      return { kind: 'again' };
    case 'wait': {
      const hasAnswered = isRedirected || error.status !== undefined;
      const reason = hasAnswered ? `robots.txt: ${failureText(error)}` : failureText(error);
      const trouble = { kind: hasAnswered ? 'answered' : 'silent', reason } as const;
      return { kind: 'wait', reason: `robots.txt: ${error.reason}`, detail: `robots.txt: ${error.message}`, trouble };
    }
    default:
      return NO_RULES;
  }
}

/** Reads a file as far as it counts: its whole lines, if it is too long. Discards the rest. */
async function beginningOf(body: OpenDocument['body']): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > MAX_ROBOTS_BYTES) break;
  }
  const file = Buffer.concat(chunks, Math.min(size, MAX_ROBOTS_BYTES));
  return size > MAX_ROBOTS_BYTES ? file.subarray(0, wholeLinesLength(file)) : file;
}
