import { DAY_MS } from '../durations.ts';

/**
 * A page as incremental runs remember it, with enough to ask its host whether it has changed. It is stored under the page's mark
 * for {@link PAGE_RETENTION_MS} after the last fetch; after that, the next fetch is unconditional.
 */
export interface KnownPage extends PageFacts {
  /** When the last fetch began; epoch milliseconds, by the frontier's clock. */
  readonly fetchedAt: number;
}

/** The facts about a page that a fetch yields. */
export interface PageFacts extends Validators {
  /** SHA-256 of the body, hex; empty if no body was read. */
  readonly contentHash: string;
  /** Size of the decompressed body. */
  readonly bytes: number;
  /** How the run read the page: see {@link readAsOf}. */
  readonly readAs: string;
  /** The mark that the page claimed because its redirects led there. It tells later runs that share marks that this page holds it. */
  readonly claimed?: string;
}

/** A host's identifiers for a version of a page (RFC 9110 section 8.8). */
export interface Validators {
  /** `ETag`, to be sent back as `If-None-Match`. */
  readonly etag?: string;
  /** `Last-Modified`, to be sent back as `If-Modified-Since`. */
  readonly modified?: string;
}

/** Time from a page's last fetch until it is forgotten: 90 days. */
export const PAGE_RETENTION_MS = 90 * DAY_MS;

/**
 * Describes how a run reads pages: its crawler, and the content that it keeps. A page that was last read differently is fetched
 * again in full, changed or not, since this run needs its own record of it.
 */
export function readAsOf({ crawler, content }: { readonly crawler: string; readonly content: string }): string {
  return content === 'none' ? crawler : `${crawler} ${content}`;
}

/** Maximum characters of a validator. Longer ones are not kept, since each is stored with its page and sent with each request. */
const MAX_VALIDATOR_LENGTH = 1_024;

/** Returns the validators among a response's headers, whose names are in lower case. */
export function validatorsIn(headers: Readonly<Record<string, string>>): Validators {
  const { etag, 'last-modified': modified } = headers;
  return { ...(isUsable(etag) ? { etag } : {}), ...(isUsable(modified) ? { modified } : {}) };
}

function isUsable(validator: string | undefined): validator is string {
  return validator !== undefined && validator !== '' && validator.length <= MAX_VALIDATOR_LENGTH;
}
