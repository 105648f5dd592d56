import got, { type Got, type Request } from 'got';
import { messageOf } from '../errors.ts';
import { FetchError, type FetchedPage, type Fetcher, type FetchRequest, type OpenResponse } from '../fetcher.ts';
import { type AllowedPrivate, NOTHING_PRIVATE } from '../task/private-address.ts';
import { GuardedAgents, type Resolve, systemResolve } from './address-guard.ts';
import { Answer } from './answer.ts';
import { ACCEPT_ENCODING } from './content-coding.ts';
import { toFetchError } from './error-codes.ts';
import { leaveHop, redirectProblem } from './redirects.ts';

/** What a {@link GotFetcher} is made of. */
export interface GotFetcherOptions {
  /** For a whole request, redirects and body included. No phase before the answer may take more than 10 s of it. */
  readonly timeoutMs: number;
  /** Default: 10. */
  readonly maxRedirects?: number;
  readonly userAgent: string;
  /** Default: nothing. */
  readonly allowedPrivate?: AllowedPrivate;
  /** Sent with every request. A redirect to another origin is followed without them. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: the operating system's. */
  readonly resolve?: Resolve;
}

/** A look-up, a connection, a handshake that takes longer than this comes to nothing. */
const PHASE_MS = 10_000;

const NO_BODY = new Uint8Array();

const ACCEPT = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

/**
 * The {@link Fetcher} on `got`. It keeps connections alive, keeps no cookies, and decodes bodies itself: got would hide
 * what a body was coded as, and start three streams for each. It reads got's streams, since its promises know no cap.
 */
export class GotFetcher implements Fetcher {
  readonly #client: Got;
  readonly #agents: GuardedAgents;
  readonly #maxRedirects: number;

  constructor(options: GotFetcherOptions) {
    const { timeoutMs, maxRedirects = 10, headers = {} } = options;
    this.#maxRedirects = maxRedirects;
    const phaseMs = Math.min(timeoutMs, PHASE_MS);
    this.#agents = new GuardedAgents(options.allowedPrivate ?? NOTHING_PRIVATE, options.resolve ?? systemResolve);
    this.#client = got.extend({
      agent: { http: this.#agents.http, https: this.#agents.https },
      timeout: {
        lookup: phaseMs,
        connect: phaseMs,
        secureConnect: phaseMs,
        send: phaseMs,
        response: timeoutMs,
        request: timeoutMs,
      },
      headers: { accept: ACCEPT, ...headers, 'accept-encoding': ACCEPT_ENCODING, 'user-agent': options.userAgent },
      retry: { limit: 0 },
      throwHttpErrors: false,
      decompress: false,
      strictContentLength: true,
      followRedirect: (response) => redirectProblem(response, maxRedirects) === undefined,
      maxRedirects,
      hooks: {
        beforeRedirect: [
          (next, { url }) => {
            if (new URL(next.url ?? '').origin === new URL(url).origin) return;
            for (const name of Object.keys(headers)) delete next.headers[name.toLowerCase()];
          },
        ],
      },
    });
  }

  async fetch(request: FetchRequest): Promise<FetchedPage> {
    const startedAt = performance.now();
    const answer = await this.#ask(request);
    const { finalUrl, status, headers, isPage } = answer;
    const body = isPage ? await answer.whole() : NO_BODY;
    if (!isPage) answer.leave();
    return { finalUrl, status, headers, body, durationMs: performance.now() - startedAt };
  }

  async open(request: FetchRequest): Promise<OpenResponse> {
    const answer = await this.#ask(request);
    const { finalUrl, status, headers } = answer;
    return { finalUrl, status, headers, body: answer.pieces() };
  }

  async stop(): Promise<void> {
    this.#agents.close();
  }

  /** Resolves once the headers of the last hop are in, and are such that the body is wanted. */
  #ask(request: FetchRequest): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const { signal } = request;
      if (signal?.aborted) {
        reject(aborted(signal));
        return;
      }
      const stream = this.#client.stream(request.url, optionsOf(request));
      // For good: an error after the headers is for whoever reads the body, and may come before anyone does.
      stream.on('error', (error) => reject(stream.requestUrl === undefined ? badUrl(error) : toFetchError(error)));
      stream.on('redirect', (_, hop) => leaveHop(hop, stream));
      stream.on('response', (response) => {
        const answer = new Answer(stream, response, request.maxBodyBytes);
        const problem = redirectProblem(response, this.#maxRedirects) ?? unwanted(answer, request) ?? answer.problem;
        if (problem === undefined) resolve(answer);
        else stream.destroy(problem);
      });
      if (signal !== undefined) destroyOn(signal, stream);
    });
  }
}

/** A longer request still has to be answered as soon as any other. */
function optionsOf({ timeoutMs }: FetchRequest): { timeout?: { request: number } } {
  return timeoutMs === undefined ? {} : { timeout: { request: timeoutMs } };
}

/** got has no request URL when it could make nothing of the URL that it was given, and most often no error code then. */
function badUrl(error: Error): FetchError {
  return new FetchError('bad_url', messageOf(error));
}

function unwanted({ status, headers }: Answer, { accepts }: FetchRequest): FetchError | undefined {
  if (accepts === undefined || status < 200 || status > 299) return undefined;
  const contentType = headers['content-type'];
  if (accepts(contentType)) return undefined;
  return new FetchError('content_type', `The answer is ${contentType ?? 'of no content type'}`, { status });
}

function destroyOn(signal: AbortSignal, stream: Request): void {
  const onAbort = (): void => {
    stream.destroy(aborted(signal));
  };
  const forget = (): void => signal.removeEventListener('abort', onAbort);
  signal.addEventListener('abort', onAbort, { once: true });
  stream.once('end', forget);
  stream.once('close', forget);
}

function aborted(signal: AbortSignal): FetchError {
  return new FetchError('aborted', 'The request was aborted', { cause: signal.reason });
}
