import { DAY_MS } from '../durations.ts';

/**
 * What incremental runs remember of a page: enough to ask its host whether it has changed since. It is kept by the page's
 * mark, for {@link PAGE_RETENTION_MS} after its last fetch; without it, the next fetch is a whole one.
 */
export interface KnownPage extends PageFacts {
  /** When the last fetch began; epoch milliseconds, by the frontier's clock. */
  readonly fetchedAt: number;
}

/** What a fetch tells of a page. */
export interface PageFacts extends Validators {
  /** SHA-256 of the body, hex; empty if it had none that was read. */
  readonly contentHash: string;
  /** Of the body, decompressed. */
  readonly bytes: number;
  /** What was made of it: see {@link readAsOf}. */
  readonly readAs: string;
  /** The mark that it has claimed: of the page that its redirects led to. Runs that share marks find it taken, by this one. */
  readonly claimed?: string;
}

/** What a host calls a version of a page, in its own words (RFC 9110, section 8.8). */
export interface Validators {
  /** `ETag`, to be sent back as `If-None-Match`. */
  readonly etag?: string;
  /** `Last-Modified`, to be sent back as `If-Modified-Since`. */
  readonly modified?: string;
}

/** What is known of a page is forgotten 90 days after its last fetch. */
export const PAGE_RETENTION_MS = 90 * DAY_MS;

/**
 * What a run makes of a page. One that was read for something else is fetched whole again, modified or not: this run has no
 * record of it.
 */
export function readAsOf({ crawler, content }: { readonly crawler: string; readonly content: string }): string {
  return content === 'none' ? crawler : `${crawler} ${content}`;
}

/** The validators among a response's headers, names in lower case. */
export function validatorsIn(headers: Readonly<Record<string, string>>): Validators {
  const { etag, 'last-modified': modified } = headers;
  return { ...(etag ? { etag } : {}), ...(modified ? { modified } : {}) };
}
