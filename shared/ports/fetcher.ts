import { shortened } from '../task/shortened.ts';
import type { FetchFailure } from '../task/task/fetch-failure.ts';
import type { Validators } from '../task/task/known-page.ts';
import type { SentRequest } from '../task/task/request.ts';

/**
 * Makes HTTP requests: one request, one answer. It does not retry, pace, deduplicate or follow redirects: each redirect
 * is a request of its own, in the turn of the host that it leads to.
 *
 * There are two kinds of request. A *page* is read whole, and only if its status is 2xx and its content type is accepted.
 * A *document*, a robots.txt or a sitemap, is read as it arrives, whatever its status, and its reader stops when it has
 * enough.
 *
 * | promise     | what it says                                                                                          |
 * |-------------|-------------------------------------------------------------------------------------------------------|
 * | answers     | an answer of any status resolves; everything else rejects with a {@link FetchError} that has a reason |
 * | once        | nothing is asked twice, but for a request that may be, and that a connection lost unsent, or a kept one before its answer began, or whose server refuses HTTP/2 |
 * | time        | a request and each phase of it has a time-out; decoding counts, waiting for this process does not     |
 * | memory      | bodies of pages have a budget; when it is used up, they are not read on, but for the oldest           |
 * | bytes       | a page over its cap is refused, on the wire or decoded, as soon as that shows                         |
 * | codings     | gzip, deflate, br and zstd are undone, at most two deep; data that hold next to nothing are refused   |
 * | addresses   | no address that the address guard refuses is ever connected to, or named to a proxy                   |
 * | credentials | a host's own headers and logins go to its origin alone; cookies are the caller's: none is kept here     |
 * | connections | are used again after an answer read to its end; bursts are spread; after `stop` none is left          |
 * | proxies     | one that fails is passed over; that costs the target nothing                                          |
 * | network     | while several hosts are asked and none answers, failures have reason `network`: hosts aren't to blame |
 *
 * Any number of requests may be under way at once. Implementations: `fetchers/got` and `fetchers/undici`; both pass
 * `test/contract/suites/fetcher.contract.ts`.
 */
export interface Fetcher {
  /**
   * Finds out where a URL's host is, so that a request that follows can begin at once: a request in a host's turn that first has
   * to wait for a name arrives too late. Never rejects, since the request will: then it took too long, say.
   */
  prepare(url: string, signal: AbortSignal): Promise<void>;
  /** Fetches a whole page. */
  fetch(request: PageRequest): Promise<FetchedPage>;
  /** Opens a document for reading as it arrives. The caller reads `body` to its end, or destroys it. */
  open(request: DocumentRequest): Promise<OpenDocument>;
  /**
   * A digest of the headers that only this deployment sends to the URL's host, credentials say: the answer is not for
   * others. Nothing if there are none.
   */
  variantOf(url: string): string | undefined;
  /** Closes idle connections at once, and each one in use when its request ends. Safe to call twice. */
  stop(): Promise<void>;
  /** Does no host answer, of several that were asked? Our own network is away, then. */
  readonly isNetworkAway: boolean;
  /** Do all of its proxies rest, if it has any? It asks nobody, then. */
  readonly isWithoutProxy: boolean;
  /** How many requests it can well have open at once: a worker that finds its own size goes no further. */
  readonly mostAtOnce: number;
  /** Number of pages, and of joins, whose reading waits for memory. */
  readonly waitingForMemory: number;
}

/** An optional ability: the budget of memory that the bodies of pages have, in which others may take part. */
export interface BodyBudget {
  /** Bytes that count as memory now, of bodies being read and held, and of others. */
  readonly bodyBytes: number;
  /**
   * Counts bytes that are no body, as those of a body: resolves once there is room for them, or nothing older is left that could
   * make room. The caller must close the share in the end.
   */
  reserve(bytes: number): Promise<MemoryShare>;
}

/** What one thing in memory takes of a {@link BodyBudget}. */
export interface MemoryShare {
  /** It has turned out to have this many bytes. */
  settle(bytes: number): void;
  /** Frees its memory. Safe to call twice. */
  close(): void;
}

/** What requests for pages and for documents have in common. */
export interface FetchRequest {
  readonly url: string;
  /** Aborts the request; it then rejects with reason `aborted`. */
  readonly signal?: AbortSignal;
  /**
   * The credentials for the URL, which has none itself: see `task/url/logins.ts`. Headers that the deployment sends to the
   * host override them.
   */
  readonly login?: string | undefined;
  /** A `Cookie` header. A cookie of the same name that the deployment or the request itself sends to the host overrides it. */
  readonly cookie?: string | undefined;
  /** Gets the `Set-Cookie` lines of an answer, if it has any. They are in no header that is passed on. */
  readonly onCookies?: ((lines: readonly string[]) => void) | undefined;
  /** The URL that the caller was redirected from: headers for that origin are not sent to another. */
  readonly redirectedFrom?: string;
  /** Others have named the URL and caused the request: the headers that the deployment sends to its host are left out. */
  readonly isForOthers?: true;
  /** Filled in as the request goes on. */
  readonly timings?: RequestTimings;
}

/** When things happened in one request, whether it is answered or not. */
export class RequestTimings {
  /** Milliseconds that it waited for this process: for memory, or for its turn to connect. The host is not to blame for them. */
  waitedMs = 0;
  /** The server closes the connection after its answer: the next request needs a new one. */
  isClosing = false;
  /** It may have reached the host: what becomes of it there isn't known until an answer comes. */
  isSent = false;
  /** Called when the request is being written to a connection; again if it has to be sent once more, on another. */
  readonly onSent: () => void;

  constructor(onSent: () => void = () => {}) {
    this.onSent = onSent;
  }
}

export interface PageRequest extends FetchRequest {
  /** What is sent. Default: a GET. Its headers override all others. */
  readonly send?: SentRequest;
  /** Bytes of body, after decompression. A longer body is refused with reason `size`. */
  readonly maxBodyBytes: number;
  /** Asked once the headers are in: `false` ends the request with reason `content_type`. Only for status 2xx. */
  readonly accepts?: (contentType: string | undefined) => boolean;
  /** Of the known version: if it is still current, the answer is a 304. */
  readonly validators?: Validators;
  /** Keeps the page's bytes counted as memory after the fetch. Default: they count until the fetch ends. */
  readonly hold?: PageHold;
}

/** A caller's hold on the bytes of a fetched page, or of what a join gets. */
export class PageHold {
  #letGo: (() => void) | undefined;

  /** Does something that needs a hold, which ends with it. */
  static async during<T>(work: (hold: PageHold) => Promise<T>): Promise<T> {
    const hold = new PageHold();
    try {
      return await work(hold);
    } finally {
      hold.end();
    }
  }

  /** For fetchers: a page's bytes count until `letGo` is called. Releases the page before, if there is one. */
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
  /** For the whole request, its body included; the fetcher's own where left out. */
  readonly timeoutMs?: number;
}

interface ResponseHead {
  /** The URL that was asked, without its fragment. */
  readonly finalUrl: string;
  readonly status: number;
  /** Those of the allow-list, names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface OpenDocument extends ResponseHead {
  /** Decompressed bytes, of any number; ends with a {@link FetchError} when the request fails midway. */
  readonly body: AsyncIterable<Uint8Array> & { destroy(): void };
}

/** At most this many bytes of an unwanted body are read, so that its connection can be used again. */
export const MOST_UNWANTED_BYTES = 65_536;

/** Discards an unwanted body in the background. However that ends, the answer stands. */
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
  /** Decompressed bytes; none unless the status is 2xx. */
  readonly body: Uint8Array;
  /** From the start of the request to the last byte, without the waits for this process: see {@link RequestTimings.waitedMs}. */
  readonly durationMs: number;
}

/** Characters of why a request failed: a certificate may name thousands of hosts, and a header have 64 KiB. It is kept for each page. */
const MAX_MESSAGE_LENGTH = 1_000;

/** A request that got no usable answer. Costs nothing but the request. */
export class FetchError extends Error {
  readonly code = 'ERR_FETCH';
  readonly reason: FetchFailure;
  /** Of the answer that was cut off, if there was one. */
  readonly status: number | undefined;

  constructor(reason: FetchFailure, message: string, options?: { cause?: unknown; status?: number }) {
    super(shortened(message, MAX_MESSAGE_LENGTH), options?.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'FetchError';
    this.reason = reason;
    this.status = options?.status;
  }
}
