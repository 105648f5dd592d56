import type { FetchFailure } from './task/fetch-failure.ts';

/**
 * Makes HTTP requests. One request, one answer: retries, pacing and dedup are other parts' work.
 *
 * Guarantees: every phase has its time-out; the body cap holds while streaming and after decompression; no address that
 * the address guard refuses is ever connected to, redirects included. An answer of any status resolves; everything else
 * rejects with a {@link FetchError}. Implementation: `fetchers/got.ts`.
 */
export interface Fetcher {
  /** Fetches a whole page. */
  fetch(request: FetchRequest): Promise<FetchedPage>;
  /** Opens a response for reading as it arrives. The caller reads `body` to its end, or destroys it. */
  open(request: FetchRequest): Promise<OpenResponse>;
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
  /** Asked once the headers are in: `false` ends the request with reason `content_type`. Only for status 2xx. */
  readonly accepts?: (contentType: string | undefined) => boolean;
}

interface ResponseHead {
  /** After redirects. */
  readonly finalUrl: string;
  readonly status: number;
  /** Those of the allow-list, names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface OpenResponse extends ResponseHead {
  /** Decompressed bytes; ends with a {@link FetchError} when the request fails midway. */
  readonly body: AsyncIterable<Uint8Array> & { destroy(): void };
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
