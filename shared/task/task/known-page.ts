import { DAY_MS } from '../durations.ts';

/**
 * What incremental runs remember of a page: enough to ask its host whether it has changed. It is stored under the page's mark
 * for {@link PAGE_RETENTION_MS} after the last fetch; without it, the next fetch is unconditional.
 */
export interface KnownPage extends PageFacts {
  /** When the last fetch began; epoch milliseconds, by the frontier's clock. */
  readonly fetchedAt: number;
}

/** What a fetch says about a page. */
export interface PageFacts extends Validators {
  /** SHA-256 of the body, hex; empty if no body was read. */
  readonly contentHash: string;
  /** Size of the decompressed body. */
  readonly bytes: number;
  /** How the run read it: see {@link readAsOf}. */
  readonly readAs: string;
  /** The mark it claimed, of the page that its redirects led to. Later runs that share marks know that this page holds it. */
  readonly claimed?: string;
}

/** A host's identifiers for a version of a page (RFC 9110 section 8.8). */
export interface Validators {
  /** `ETag`, to be sent back as `If-None-Match`. */
  readonly etag?: string;
  /** `Last-Modified`, to be sent back as `If-Modified-Since`. */
  readonly modified?: string;
}

/** A page is forgotten 90 days after its last fetch. */
export const PAGE_RETENTION_MS = 90 * DAY_MS;

/**
 * How a run reads pages: its crawler and what content it keeps. A page that was last read differently is fetched again in
 * full, changed or not, since this run needs its own record of it.
 */
export function readAsOf({ crawler, content }: { readonly crawler: string; readonly content: string }): string {
  return content === 'none' ? crawler : `${crawler} ${content}`;
}

/** Characters of a validator. A longer one is not kept: it is stored for each page, and sent with each request. */
const MAX_VALIDATOR_LENGTH = 1_024;

/** The validators among a response's headers, names in lower case. */
export function validatorsIn(headers: Readonly<Record<string, string>>): Validators {
  const { etag, 'last-modified': modified } = headers;
  return { ...(isUsable(etag) ? { etag } : {}), ...(isUsable(modified) ? { modified } : {}) };
}

function isUsable(validator: string | undefined): validator is string {
  return validator !== undefined && validator !== '' && validator.length <= MAX_VALIDATOR_LENGTH;
}
