import type { FetchFailure } from '../task/task/fetch-failure.ts';
import type { Validators } from '../task/task/known-page.ts';

/**
 * Makes HTTP requests. One request, one answer: retries, pacing and dedup are other parts' work, and so are redirects, each of
 * which is a request of its own, in the turn of the host that it goes to.
 *
 * Guarantees: every phase has its time-out; the body cap holds while streaming and after decompression; no address that
 * the address guard refuses is ever connected to, or named to a proxy. An answer of any status resolves;
 * everything else rejects with a {@link FetchError}. Implementation: `fetchers/got`.
 */
export interface Fetcher {
  /** Fetches a whole page. */
  fetch(request: FetchRequest): Promise<FetchedPage>;
  /** Opens a response for reading as it arrives. The caller reads `body` to its end, or destroys it. */
  open(request: FetchRequest): Promise<OpenResponse>;
  /**
   * A digest of what only this deployment sends to the URL's host, credentials say, so that its answer is not for others;
   * nothing if a request to it is like anybody's.
   */
  variantOf(url: string): string | undefined;
  /** Closes idle connections. */
  stop(): Promise<void>;
}

export interface FetchRequest {
  readonly url: string;
  /** Aborts the request; it then rejects with reason `aborted`. */
  readonly signal?: AbortSignal;
  /** For the whole request, its body included; the fetcher's own where left out. */
  readonly timeoutMs?: number;
  /** Bytes of body, after decompression. A longer body is refused with reason `size`. */
  readonly maxBodyBytes: number;
  /** The credentials for the URL, which has none itself: see `task/logins.ts`. */
  readonly login?: string | undefined;
  /** The URL that the caller was redirected from: what is sent to its origin alone is not sent to another. */
  readonly redirectedFrom?: string;
  /** Asked once the headers are in: `false` ends the request with reason `content_type`. Only for status 2xx. */
  readonly accepts?: (contentType: string | undefined) => boolean;
  /** Of the version that is known: if the URL still has that one, the answer is a 304. */
  readonly validators?: Validators;
}

interface ResponseHead {
  /** That was asked. */
  readonly finalUrl: string;
  readonly status: number;
  /** Those of the allow-list, names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface OpenResponse extends ResponseHead {
  /** Decompressed bytes; ends with a {@link FetchError} when the request fails midway. */
  readonly body: AsyncIterable<Uint8Array> & { destroy(): void };
}

/** A body that nobody wants is read so far, so that its connection can be used again. */
const MOST_UNWANTED_BYTES = 65_536;

/** Lets go of a body that nobody wants, while the caller goes on. However it ends, its answer stands. */
export function letGo(body: OpenResponse['body']): void {
  const read = async (): Promise<void> => {
    let size = 0;
    for await (const chunk of body) {
      size += chunk.length;
      if (size >= MOST_UNWANTED_BYTES) break;
    }
  };
  void read().catch(() => {});
}

export interface FetchedPage extends ResponseHead {
  /** Decompressed bytes; none unless the status is 2xx. */
  readonly body: Uint8Array;
  /** From the start of the request to the last byte. */
  readonly durationMs: number;
}

/** A request that came to no answer. Costs nothing but the request. */
export class FetchError extends Error {
  readonly code = 'ERR_FETCH';
  readonly reason: FetchFailure;
  /** Of the answer that was cut off, if there was one. */
  readonly status: number | undefined;

  constructor(reason: FetchFailure, message: string, options?: { cause?: unknown; status?: number }) {
    super(message, options?.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'FetchError';
    this.reason = reason;
    this.status = options?.status;
  }
}
