import { shortened } from '../task/shortened.ts';
import type { FetchFailure } from '../task/task/fetch-failure.ts';
import type { Validators } from '../task/task/known-page.ts';
import type { SentRequest } from '../task/task/request.ts';

/**
 * Makes HTTP requests: one request, one answer. It does not retry, pace, deduplicate or follow redirects. Each redirect is a
 * new request, made in the turn of the host it leads to.
 *
 * There are two kinds of request. A *page* is read whole, and only if its status is 2xx, or an error status that the caller
 * takes as a page, and its content type is accepted.
 * A *document* (a robots.txt or a sitemap) is read as it arrives, whatever its status, and its reader stops when it has
 * enough.
 *
 * | subject     | promise                                                                                               |
 * |-------------|-------------------------------------------------------------------------------------------------------|
 * | answers     | an answer of any status resolves; everything else rejects with a {@link FetchError} that has a reason |
 * | once        | nothing is sent twice, except a repeatable request in one of the three cases below                    |
 * | time        | each request and each of its phases has a time-out; decoding counts, waiting for this process doesn't |
 * | memory      | the bodies of pages share a budget; when it is used up, only the oldest body is read on               |
 * | bytes       | a page is refused as soon as it turns out to exceed its cap, on the wire or decoded                   |
 * | codings     | gzip, deflate, br and zstd are decoded, at most two deep; data that decode to next to nothing are refused |
 * | addresses   | an address that the address guard refuses is never connected to, nor named to a proxy                 |
 * | credentials | a host's own headers and logins go only to its origin; cookies are up to the caller, and not kept here |
 * | connections | are reused once their answer was read to its end; bursts are spread; after `stop` none is left        |
 * | proxies     | one that fails is passed over, at no cost to the target                                               |
 * | network     | while several hosts are asked and none answers, failures have reason `network`: hosts aren't to blame |
 *
 * A repeatable request is sent again if the connection broke before it was sent, if a kept-alive connection broke before the
 * answer began, or if the server refuses HTTP/2.
 *
 * Any number of requests may be under way at once. Implementations: `fetchers/got` and `fetchers/undici`; both pass
 * `test/contract/suites/fetcher.contract.ts`.
 */
export interface Fetcher {
  /**
   * Looks up the address of a URL's host in advance, so that the request itself can begin at once: a request that first waits
   * for a look-up misses its host's turn. Never rejects: if the look-up fails, the request will report that.
   */
  prepare(url: string, signal: AbortSignal): Promise<void>;
  /** Fetches a whole page. */
  fetch(request: PageRequest): Promise<FetchedPage>;
  /** Opens a document for reading as it arrives. The caller reads `body` to its end, or destroys it. */
  open(request: DocumentRequest): Promise<OpenDocument>;
  /**
   * Returns a digest of the headers, such as credentials, that only this deployment sends to the URL's host, so that answers
   * to them are not shared with others. `undefined` if there are none.
   */
  variantOf(url: string): string | undefined;
  /** Closes idle connections at once, and each one in use when its request ends. Safe to call twice. */
  stop(): Promise<void>;
  /** Several hosts were asked and none of them answers, so our own network is down. */
  readonly isNetworkAway: boolean;
  /** It has proxies, but all of them rest, so it makes no requests. */
  readonly isWithoutProxy: boolean;
  /** Number of open requests it handles well. A worker that sizes itself goes no higher. */
  readonly mostAtOnce: number;
  /** Number of pages and joins that wait for memory. */
  readonly waitingForMemory: number;
}

/** An optional ability: the memory budget for the bodies of pages, in which other data can have a share. */
export interface BodyBudget {
  /** Bytes counted against the budget now: bodies being read or held, and other data. */
  readonly bodyBytes: number;
  /**
   * Counts data other than a body against the budget. Resolves once there is room for it, or when nothing older is left that
   * could make room. The caller must close the share.
   */
  reserve(bytes: number): Promise<MemoryShare>;
}

/** One share of a {@link BodyBudget}. */
export interface MemoryShare {
  /** Sets the actual size, once it is known. */
  settle(bytes: number): void;
  /** Frees the memory. Safe to call twice. */
  close(): void;
}

/** The common fields of requests for pages and documents. */
export interface FetchRequest {
  readonly url: string;
  /** Aborts the request; it then rejects with reason `aborted`. */
  readonly signal?: AbortSignal;
  /**
   * The credentials for the URL, which itself contains none: see `task/url/logins.ts`. Headers that the deployment sends to
   * the host override them.
   */
  readonly login?: string | undefined;
  /** A `Cookie` header. A cookie of the same name that the deployment or the request itself sends to the host overrides it. */
  readonly cookie?: string | undefined;
  /** Called with the `Set-Cookie` lines of an answer, if there are any. They don't appear in the answer's headers. */
  readonly onCookies?: ((lines: readonly string[]) => void) | undefined;
  /** The URL that redirected to this one. Headers meant for its origin are not sent to another origin. */
  readonly redirectedFrom?: string;
  /** Someone else chose the URL and caused the request, so the headers that the deployment sends to its host are left out. */
  readonly isForOthers?: true;
  /** Filled in during the request. */
  readonly timings?: RequestTimings;
}

/** The timing and progress of one request, whether it is answered or not. */
export class RequestTimings {
  /** Milliseconds the request waited for this process: for memory, or for its turn to connect. The host is not to blame for them. */
  waitedMs = 0;
  /** The server closes the connection after its answer, so the next request needs a new one. */
  isClosing = false;
  /** The request may have reached the host. Its effect there is unknown until an answer comes. */
  isSent = false;
  /** Called when the request is written to a connection, and again if it has to be sent on another. */
  readonly onSent: () => void;

  constructor(onSent: () => void = () => {}) {
    this.onSent = onSent;
  }
}

export interface PageRequest extends FetchRequest {
  /** Method, headers and body. Defaults to a GET. Its headers override all others. */
  readonly send?: SentRequest;
  /** Maximum bytes of the body, after decompression. A longer body is refused with reason `size`. */
  readonly maxBodyBytes: number;
  /** Called once the headers are in, only for a page. Returning `false` ends the request with reason `content_type`. */
  readonly accepts?: (contentType: string | undefined) => boolean;
  /** Called for a status of 400 or more. Returning `true` takes the answer as a page. Default: none is. */
  readonly takes?: (status: number) => boolean;
  /** Validators of the version known already. If it is still current, the answer is a 304. */
  readonly validators?: Validators;
  /** Keeps the page's bytes counted as memory after the fetch. By default, they count until the fetch ends. */
  readonly hold?: PageHold;
}

/** A caller's hold on the bytes of a fetched page, or of a join's inputs. */
export class PageHold {
  #letGo: (() => void) | undefined;

  /** Runs work with a hold that ends when the work does. */
  static async during<T>(work: (hold: PageHold) => Promise<T>): Promise<T> {
    const hold = new PageHold();
    try {
      return await work(hold);
    } finally {
      hold.end();
    }
  }

  /** Called by fetchers: a page's bytes count until `letGo` is called. Releases the previous page, if there is one. */
  keep(letGo: () => void): void {
    this.#letGo?.();
    this.#letGo = letGo;
  }

  /** Releases the bytes. Safe to call twice. */
  end(): void {
    this.#letGo?.();
    this.#letGo = undefined;
  }
}

export interface DocumentRequest extends FetchRequest {
  /** Time-out of the whole request, including its body. Defaults to the fetcher's own. */
  readonly timeoutMs?: number;
}

interface ResponseHead {
  /** The URL that was requested, without its fragment. */
  readonly finalUrl: string;
  readonly status: number;
  /** All headers but cookies and those of the connection, names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface OpenDocument extends ResponseHead {
  /** Decompressed bytes, without a size limit. Throws a {@link FetchError} if the request fails midway. */
  readonly body: AsyncIterable<Uint8Array> & { destroy(): void };
}

/** Maximum bytes of an unwanted body to read so that its connection can be reused. */
export const MOST_UNWANTED_BYTES = 65_536;

/** Discards an unwanted body in the background. Errors are ignored. */
export function letGo(body: OpenDocument['body']): void {
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
  /** Decompressed bytes; none unless the status is 2xx or {@link PageRequest.takes} it. */
  readonly body: Uint8Array;
  /** Why the body of an error that the caller takes is missing. Status and headers count all the same. */
  readonly unread?: FetchError;
  /** From the start of the request to the last byte, excluding waits for this process: see {@link RequestTimings.waitedMs}. */
  readonly durationMs: number;
}

/** Maximum characters of an error, which is kept for each page: a certificate can name thousands of hosts, a header have 64 KiB. */
const MAX_MESSAGE_LENGTH = 1_000;

/** A request that got no usable answer. Costs nothing but the request. */
export class FetchError extends Error {
  readonly code = 'ERR_FETCH';
  readonly reason: FetchFailure;
  /** Status of the answer that was cut off, if there was one. */
  readonly status: number | undefined;

  constructor(reason: FetchFailure, message: string, options?: { cause?: unknown; status?: number }) {
    super(shortened(message, MAX_MESSAGE_LENGTH), options?.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'FetchError';
    this.reason = reason;
    this.status = options?.status;
  }
}
