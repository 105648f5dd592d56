import { CookieJar } from '../../../shared/cookies/cookie-jar.ts';
import { decodeStream } from '../../../shared/crawler/document/charset.ts';
import { SlotWait } from '../../../shared/loops/slot-wait.ts';
import { FetchError, type Fetcher, type OpenDocument } from '../../../shared/ports/fetcher.ts';
import type { HostGate, HostLimit } from '../../../shared/ports/host-gate.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { HOUR_MS } from '../../../shared/task/durations.ts';
import { throttlePauseMs } from '../../../shared/task/host/host-pace.ts';
import { retryAfterMs } from '../../../shared/task/host/retry-after.ts';
import { robotsPauseMs } from '../../../shared/task/robots/robots-answer.ts';
import type { FetchFailure } from '../../../shared/task/task/fetch-failure.ts';
import { retryDelayMs } from '../../../shared/task/task/retry-schedule.ts';
import { type Logins, loginFor, withLogin } from '../../../shared/task/url/logins.ts';
import { redirectOf } from '../../../shared/task/url/redirect.ts';
import { hostKeyOf, isProblem, readUrl } from '../../../shared/task/url/url.ts';
import { arriving } from './arriving.ts';
import { unpacked } from './unpacking.ts';

/** A document that could not be read. The message is the end of a sentence that begins with its name. */
export class DocumentError extends Error {
  override readonly name = 'DocumentError';
  readonly code = 'ERR_DOCUMENT';
  /** Status of the answer, if there was one. */
  readonly status: number | undefined;

  constructor(message: string, options?: { cause?: unknown; status?: number }) {
    super(message, options?.cause === undefined ? undefined : { cause: options.cause });
    this.status = options?.status;
  }
}

/** Maximum tries in a row without progress. */
const MAX_TRIES = 3;
/** Maximum tries in all, whatever their progress. */
const MAX_TRIES_EVER = 10;
const MAX_RETRY_DELAY_MS = 5_000;
/** Default time limit for a server to send all bytes of a document. */
const DEFAULT_BODY_MS = 600_000;
/** Time limit of a document, including the time in which its bytes wait to be taken. */
const DOCUMENT_TIMEOUT_MS = HOUR_MS;
/** Longest wait that a host can ask for before its document is left out: an hour is too long to wait for a sitemap. */
const MAX_RETRY_AFTER_MS = 60_000;
/** Wait before a retry if no proxy can be used: as long as a proxy rests. */
const PROXY_WAIT_MS = 60_000;
/** Failures worth a retry, as are all 5xx. Any other would happen again. */
const RETRYABLE_FAILURES: ReadonlySet<FetchFailure> = new Set(['timeout', 'dns', 'connection', 'network', 'proxy']);
const RETRYABLE_STATUSES: ReadonlySet<number> = new Set([408, 425, 429]);

/** Default maximum of redirects followed for one document. */
const DEFAULT_MAX_REDIRECTS = 10;

interface DocumentFetcherOptions {
  readonly fetcher: Fetcher;
  readonly hostGate: HostGate;
  readonly clock: Clock;
  readonly limit: HostLimit;
  /** This reader's name at the gate. */
  readonly holder: string;
  /** Maximum redirects followed for one document. Default: 10. */
  readonly maxRedirects?: number | undefined;
  /** Time limit for a server to send all bytes of a document. Default: 10 min. */
  readonly bodyMs?: number;
  /** Called once for each request that must wait more than a minute for its host. */
  readonly onLongWait?: ((href: string, ms: number) => void) | undefined;
  /** Returns a number in [0, 1). */
  readonly random: () => number;
}

interface ReadOptions {
  /** Maximum bytes of the body, unpacked. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  /** Credentials, each sent to its own origin. */
  readonly logins?: Logins | undefined;
  /** Whether a server error pauses the host between two tries. Used for robots.txt, with the same pauses as in workers. Default: no. */
  readonly pausesHost?: boolean;
}

interface OwnReadOptions extends ReadOptions {
  /** The document's name at the gate, where it makes one request at a time. */
  readonly holder: string;
  /** Cookies along one chain of redirects: some sites set a cookie, redirect to the same URL, and check for it. */
  readonly jar: CookieJar;
}

/** Marks the beginning of a document; yielded again each time it is read from its beginning. */
export interface DocumentStart {
  /** The URL after redirects. */
  readonly finalUrl: string;
}

/** The URL to request: the document's, or the target of a redirect. */
interface Address {
  readonly href: string;
  readonly host: string;
}

/** Why one try failed, and the wait before the next; `undefined` means no further try. */
interface Failure {
  readonly error: DocumentError;
  readonly waitMs: number | undefined;
}

/** The target of a redirect. */
interface Hop {
  readonly to: string;
  readonly login?: string;
  readonly status: number;
}

/** Returns the failure of redirects that lead nowhere, and won't later. */
function lost(why: string, status: number): Failure {
  return { error: new DocumentError(`could not be fetched: ${why}`, { status }), waitMs: undefined };
}

/** Reads sitemaps and robots.txt files from their hosts, at the pace that the gate allows: each redirect waits for a turn of the host it leads to. */
export class DocumentFetcher {
  readonly #options: DocumentFetcherOptions;
  readonly #slots: SlotWait;
  /** Number of documents begun. It gives each document its own holder at the gate, since several can be read at once. */
  #begun = 0;

  constructor(options: DocumentFetcherOptions) {
    this.#options = options;
    this.#slots = new SlotWait({ gate: options.hostGate, clock: options.clock });
  }

  /**
   * Yields the text of a document, piece by piece. After a temporary failure it starts again from the beginning, and gives up after three
   * tries that got no further. Throws a {@link DocumentError}, or a {@link BodyError} when the body's bytes are broken, both after yielding
   * everything that came before. When `signal` is aborted, throws the error of the operation that this stopped.
   */
  async *read(url: string, options: ReadOptions): AsyncGenerator<DocumentStart | string, void, void> {
    const address = readUrl(url);
    const logins = isProblem(address) ? undefined : withLogin(options.logins, address.href, address.login);
    if (isProblem(address)) throw new DocumentError(`can't be read: ${address.problem}`);
    const holder = `${this.#options.holder}:${++this.#begun}`;
    let furthest = 0;
    for (let tries = 1, ever = 1; ; tries++, ever++) {
      const reading = { length: 0 };
      const failure = yield* this.#try(address, { ...options, logins, holder, jar: new CookieJar() }, reading, tries);
      if (failure === undefined) return;
      if (reading.length > furthest) tries = 1;
      furthest = Math.max(furthest, reading.length);
      if (failure.waitMs === undefined || tries >= MAX_TRIES || ever >= MAX_TRIES_EVER) throw failure.error;
      await this.#options.clock.sleep(failure.waitMs, options.signal);
    }
  }

  async *#try(
    address: Address,
    options: OwnReadOptions,
    reading: { length: number },
    tries: number,
  ): AsyncGenerator<DocumentStart | string, Failure | undefined, void> {
    const { maxRedirects = DEFAULT_MAX_REDIRECTS } = this.#options;
    let hop = address;
    let known = options;
    for (let left = maxRedirects; ; left--) {
      const end = yield* this.#ask(hop, address, known, reading, tries);
      if (end === undefined || !('to' in end)) return end;
      if (left === 0) return lost(`the request was redirected more than ${maxRedirects} times`, end.status);
      hop = { href: end.to, host: hostKeyOf(new URL(end.to)) };
      known = { ...options, logins: withLogin(known.logins, end.to, end.login) };
    }
  }

  /** Makes one request in its host's turn. */
  async *#ask(
    { href, host }: Address,
    { href: redirectedFrom }: Address,
    { maxBytes, signal, logins, holder, jar, pausesHost = false }: OwnReadOptions,
    reading: { length: number },
    tries: number,
  ): AsyncGenerator<DocumentStart | string, Failure | Hop | undefined, void> {
    const { fetcher, limit, bodyMs = DEFAULT_BODY_MS } = this.#options;
    const onLongWait = (ms: number): void => this.#options.onLongWait?.(href, ms);
    const turn = await this.#slots.acquire({ host, holder, limit, signal, onLongWait });
    let answeredAt: number | undefined;
    let isFailure = true;
    let unread: OpenDocument['body'] | undefined;
    const cookies: string[] = [];
    try {
      const response = await fetcher.open({
        url: href,
        redirectedFrom,
        login: loginFor(href, logins),
        cookie: jar.headerFor(href),
        onCookies: (lines) => void cookies.push(...lines),
        timeoutMs: DOCUMENT_TIMEOUT_MS,
        ...{ signal, timings: turn.timings },
      });
      const { status, headers, body } = response;
      answeredAt = performance.now();
      const redirect = redirectOf(status, headers.location, href);
      unread = body;
      isFailure = redirect === undefined && (status < 200 || status > 299);
      if (redirect !== undefined) {
        if ('problem' in redirect) return lost(redirect.problem, status);
        await jar.keep(href, cookies);
        return { ...redirect, status };
      }
      if (isFailure) return await this.#failureOfStatus(host, response, tries, pausesHost);
      yield { finalUrl: response.finalUrl };
      for await (const text of decodeStream(unpacked(arriving(body, bodyMs), maxBytes), headers['content-type'])) {
        yield text;
        reading.length += text.length;
      }
      unread = undefined;
      return undefined;
    } catch (error: unknown) {
      if (!(error instanceof FetchError) || error.reason === 'aborted') throw error;
      return this.#failureOfRequest(error, tries);
    } finally {
      unread?.destroy();
      // The host's response time, without the time that the frontier took to accept the URLs.
      await turn.over({ answeredAt, isFailure });
    }
  }

  async #failureOfStatus(
    host: string,
    { status, headers }: OpenDocument,
    tries: number,
    pausesHost: boolean,
  ): Promise<Failure> {
    const { clock, hostGate } = this.#options;
    const error = new DocumentError(`answered with status ${status}`, { status });
    const isServers = status >= 500;
    if (!isServers && !RETRYABLE_STATUSES.has(status)) return { error, waitMs: undefined };
    const serversMs = pausesHost && isServers ? robotsPauseMs(tries, undefined) : 0;
    const unsaidMs = status === 429 ? throttlePauseMs(tries) : serversMs;
    const askedMs = retryAfterMs(headers, clock.now()) ?? unsaidMs;
    if (askedMs > 0) await hostGate.pause(host, askedMs, `status ${status}`);
    return { error, waitMs: askedMs > MAX_RETRY_AFTER_MS ? undefined : Math.max(askedMs, this.#delayMs(tries)) };
  }

  #failureOfRequest(cause: FetchError, tries: number): Failure {
    const error = new DocumentError(`could not be fetched: ${cause.message}`, {
      cause,
      ...(cause.status === undefined ? {} : { status: cause.status }),
    });
    if (!RETRYABLE_FAILURES.has(cause.reason)) return { error, waitMs: undefined };
    return { error, waitMs: cause.reason === 'proxy' ? PROXY_WAIT_MS : this.#delayMs(tries) };
  }

  #delayMs(tries: number): number {
    return Math.min(MAX_RETRY_DELAY_MS, retryDelayMs(tries, this.#options.random()));
  }
}
