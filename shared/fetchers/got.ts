import http from 'node:http';
import https from 'node:https';
import got, { type Got, type OptionsInit, type PlainResponse, type Request } from 'got';
import { messageOf } from '../errors.ts';
import { FetchError, type FetchedPage, type Fetcher, type FetchRequest, type OpenResponse } from '../fetcher.ts';
import { HostHeaders } from '../task/host-headers.ts';
import { type AllowedPrivate, NOTHING_PRIVATE } from '../task/private-address.ts';
import { AddressGuard, GuardedAgents, type Resolve, systemResolve } from './address-guard.ts';
import { Answer } from './answer.ts';
import { ACCEPT_ENCODING } from './content-coding.ts';
import { toFetchError } from './error-codes.ts';
import { ProxiedRoutes, type Route } from './proxies/proxied-routes.ts';
import type { Rotation } from './proxies/rotation.ts';
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
  /** Sent to the hosts that they are for, and no further than their origins. Default: none. */
  readonly hostHeaders?: HostHeaders;
  /** Default: the operating system's. */
  readonly resolve?: Resolve;
  /** The proxies to go through. Default: none. */
  readonly proxies?: Rotation;
}

/** A look-up, a connection, a handshake that takes longer than this comes to nothing. */
const PHASE_MS = 10_000;

/** Headers that make a request conditional. */
const CONDITIONS = ['if-none-match', 'if-modified-since'] as const;

type OnResponse = (response: http.IncomingMessage) => void;

const NO_BODY = new Uint8Array();

const ACCEPT = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

/**
 * The {@link Fetcher} on `got`. It keeps connections alive, keeps no cookies, and decodes bodies itself: got would hide
 * what a body was coded as, and start three streams for each. It reads got's streams, since its promises know no cap.
 */
export class GotFetcher implements Fetcher {
  readonly #client: Got;
  /** The same, but for redirects. */
  readonly #stayingClient: Got;
  readonly #agents: GuardedAgents;
  readonly #routes: ProxiedRoutes | undefined;
  readonly #hostHeaders: HostHeaders;
  readonly #timeoutMs: number;
  readonly #maxRedirects: number;

  constructor(options: GotFetcherOptions) {
    const { timeoutMs, maxRedirects = 10, headers = {}, hostHeaders = HostHeaders.none, proxies: rotation } = options;
    this.#timeoutMs = timeoutMs;
    this.#maxRedirects = maxRedirects;
    this.#hostHeaders = hostHeaders;
    const phaseMs = Math.min(timeoutMs, PHASE_MS);
    const guard = new AddressGuard(options.allowedPrivate ?? NOTHING_PRIVATE, options.resolve ?? systemResolve);
    this.#agents = new GuardedAgents(guard);
    this.#routes = rotation && new ProxiedRoutes({ rotation, guard });
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
      request: requestOnly,
      followRedirect: followsUpTo(maxRedirects),
      maxRedirects,
      hooks: {
        beforeRedirect: [
          (next, { url }) => {
            // They are of the URL that was asked, and would match another page's time of change.
            for (const name of CONDITIONS) delete next.headers[name];
            if (new URL(next.url ?? '').origin === new URL(url).origin) return;
            for (const name of Object.keys(headers)) delete next.headers[name.toLowerCase()];
            for (const name of hostHeaders.names) delete next.headers[name];
            next.headers.accept ??= ACCEPT;
          },
        ],
      },
    });
    this.#stayingClient = this.#client.extend({ followRedirect: false });
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

  variantOf(url: string): string | undefined {
    return this.#hostHeaders.variantOf(url);
  }

  async stop(): Promise<void> {
    this.#agents.close();
    this.#routes?.close();
  }

  #ask(request: FetchRequest): Promise<Answer> {
    if (this.#routes === undefined) return this.#askBy(request);
    return this.#routes.ask(request.url, request.timeoutMs ?? this.#timeoutMs, (route) => this.#askBy(request, route));
  }

  /** Resolves once the headers of the last hop are in, and are such that the body is wanted. */
  #askBy(request: FetchRequest, route?: Route): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const { signal, followRedirects = true, maxRedirects = this.#maxRedirects } = request;
      if (signal?.aborted) {
        reject(aborted(signal));
        return;
      }
      const own = this.#hostHeaders.of(request.url, request.redirectedFrom);
      const conditions = conditionsOf(request);
      const headers = own || conditions ? { headers: { ...own, ...conditions } } : {};
      const client = followRedirects ? this.#client : this.#stayingClient;
      const stream = client.stream(request.url, { ...headers, ...optionsOf(request, route) });
      if (route !== undefined) stream.once('close', route.giveUp);
      // For good: an error after the headers is for whoever reads the body, and may come before anyone does.
      stream.on('error', (error) => {
        const isAsked = stream.requestUrl !== undefined;
        reject(isAsked ? toFetchError(error, undefined, stream.redirectUrls.length > 0) : badUrl(error));
      });
      stream.on('redirect', (_, hop) => leaveHop(hop, stream));
      stream.on('response', (response) => {
        const answer = new Answer(stream, response, request.maxBodyBytes);
        const astray = followRedirects ? redirectProblem(response, maxRedirects) : undefined;
        const problem = route?.problemOf(response) ?? astray ?? unwanted(answer, request) ?? answer.problem;
        if (problem === undefined) resolve(answer);
        else stream.destroy(problem);
      });
      if (signal !== undefined) destroyOn(signal, stream);
    });
  }
}

/**
 * Makes a request of the few options that ours have. got gives Node.js forty, most of them undefined, which Node.js copies
 * four times on the way to a socket: an eighth of what a page costs got.
 */
function requestOnly(url: URL, options: https.RequestOptions, onResponse?: OnResponse): http.ClientRequest {
  const { request } = url.protocol === 'https:' ? https : http;
  const { method, headers = {}, agent } = options;
  return request(url, { method, headers, agent }, onResponse);
}

/** What a request has of its own. A longer one still has to be answered as soon as any other. */
function optionsOf({ timeoutMs, maxRedirects }: FetchRequest, route: Route | undefined): OptionsInit {
  const request = route?.timeoutMs ?? timeoutMs;
  return {
    ...(route === undefined ? {} : { request: route.request }),
    ...(request === undefined ? {} : { timeout: { request } }),
    ...(maxRedirects === undefined ? {} : { maxRedirects, followRedirect: followsUpTo(maxRedirects) }),
  };
}

function conditionsOf({ validators: { etag, modified } = {} }: FetchRequest): Record<string, string> | undefined {
  if (etag === undefined && modified === undefined) return undefined;
  return {
    ...(etag === undefined ? {} : { 'if-none-match': etag }),
    ...(modified === undefined ? {} : { 'if-modified-since': modified }),
  };
}

function followsUpTo(maxRedirects: number): (response: PlainResponse) => boolean {
  return (response) => redirectProblem(response, maxRedirects) === undefined;
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
