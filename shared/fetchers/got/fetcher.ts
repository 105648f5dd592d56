import http from 'node:http';
import https from 'node:https';
import got, { type Got, type OptionsInit, type Request } from 'got';
import {
  type DocumentRequest,
  FetchError,
  type FetchedPage,
  type Fetcher,
  type FetchRequest,
  type OpenDocument,
  type PageRequest,
} from '../../ports/fetcher.ts';
import { codeOf, messageOf } from '../../runtime/errors.ts';
import { HostHeaders } from '../../task/host/host-headers.ts';
import { NOTHING_PRIVATE } from '../../task/host/private-address.ts';
import { authorizationOf } from '../../task/url/logins.ts';
import { AddressGuard, GuardedAgents, systemResolve } from '../address-guard.ts';
import { ACCEPT_ENCODING } from '../content-coding.ts';
import type { FetcherOptions } from '../fetcher-options.ts';
import { ProxiedRoutes, type Route } from '../proxies/proxied-routes.ts';
import { Answer, abortedBy } from './answer.ts';
import { toFetchError } from './error-codes.ts';

/** A look-up, a connection, a handshake that takes longer than this comes to nothing. */
const PHASE_MS = 10_000;

/** A request for either kind of thing. */
interface Asked extends FetchRequest, Partial<Pick<PageRequest, 'accepts' | 'validators' | 'maxBodyBytes'>> {
  readonly timeoutMs?: number;
}

type OnResponse = (response: http.IncomingMessage) => void;

const NO_BODY = new Uint8Array();

const ACCEPT = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

/**
 * The {@link Fetcher} on `got`. It keeps connections alive, keeps no cookies, follows no redirects, and decodes bodies itself: got would hide
 * what a body was coded as, and start three streams for each. It reads got's streams, since its promises know no cap.
 */
export class GotFetcher implements Fetcher {
  readonly #client: Got;
  readonly #agents: GuardedAgents;
  readonly #routes: ProxiedRoutes | undefined;
  readonly #hostHeaders: HostHeaders;
  readonly #timeoutMs: number;

  constructor(options: FetcherOptions) {
    const { timeoutMs, hostHeaders = HostHeaders.none, proxies: rotation } = options;
    this.#timeoutMs = timeoutMs;
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
      headers: { accept: ACCEPT, 'accept-encoding': ACCEPT_ENCODING, 'user-agent': options.userAgent },
      retry: { limit: 0 },
      throwHttpErrors: false,
      decompress: false,
      strictContentLength: true,
      request: requestOnly,
      followRedirect: false,
    });
  }

  async fetch(request: PageRequest): Promise<FetchedPage> {
    const startedAt = performance.now();
    const answer = await this.#ask(request);
    const { finalUrl, status, headers, isPage } = answer;
    const body = isPage ? await answer.whole() : NO_BODY;
    if (!isPage) answer.leave();
    return { finalUrl, status, headers, body, durationMs: performance.now() - startedAt };
  }

  async open(request: DocumentRequest): Promise<OpenDocument> {
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

  #ask(request: Asked): Promise<Answer> {
    if (this.#routes === undefined) return this.#askBy(request);
    return this.#routes.ask(request.url, request.timeoutMs ?? this.#timeoutMs, (route) => this.#askBy(request, route));
  }

  /** Resolves once the headers are in, and are such that the body is wanted. */
  #askBy(request: Asked, route?: Route, isRepeat = false): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const { signal } = request;
      if (signal?.aborted) {
        reject(abortedBy(signal));
        return;
      }
      const limits = {
        maxBodyBytes: request.maxBodyBytes ?? Number.POSITIVE_INFINITY,
        timeoutMs: route?.timeoutMs ?? request.timeoutMs ?? this.#timeoutMs,
        startedAt: performance.now(),
        signal,
      };
      const own = this.#hostHeaders.of(request.url, request.redirectedFrom);
      const conditions = conditionsOf(request);
      const login = loginOf(request);
      // What a deployment sends to the host beats what the URL had.
      const headers = own || conditions || login ? { headers: { ...login, ...own, ...conditions } } : {};
      const stream = this.#client.stream(request.url, { ...headers, ...optionsOf(request, route) });
      if (route !== undefined) stream.once('close', route.giveUp);
      // For good: an error after the headers is for whoever reads the body, and may come before anyone does.
      stream.on('error', (error) => {
        if (!isRepeat && isLostByKeptConnection(stream, error)) {
          resolve(this.#askBy(request, route, true));
          return;
        }
        const isAsked = stream.requestUrl !== undefined;
        reject(isAsked ? toFetchError(error) : badUrl(error));
      });
      stream.on('response', (response) => {
        const answer = new Answer(stream, response, limits);
        const problem = route?.problemOf(response) ?? unwanted(answer, request) ?? answer.problem;
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

/**
 * A server may close an idle connection while a request is being written to it. That says nothing about the host, and
 * a client may repeat such a request on another connection (RFC 9112, section 9.3.1).
 */
function isLostByKeptConnection(stream: Request, error: Error): boolean {
  if (stream.reusedSocket !== true || stream.response !== undefined) return false;
  const code = codeOf(error);
  return code === 'ECONNRESET' || code === 'EPIPE';
}

/** What a request has of its own. A longer one still has to be answered as soon as any other. */
function optionsOf({ timeoutMs }: Asked, route: Route | undefined): OptionsInit {
  const request = route?.timeoutMs ?? timeoutMs;
  return {
    ...(route === undefined ? {} : { request: route.request }),
    ...(request === undefined ? {} : { timeout: { request } }),
  };
}

function conditionsOf({ validators: { etag, modified } = {} }: Asked): Record<string, string> | undefined {
  if (etag === undefined && modified === undefined) return undefined;
  return {
    ...(etag === undefined ? {} : { 'if-none-match': etag }),
    ...(modified === undefined ? {} : { 'if-modified-since': modified }),
  };
}

function loginOf({ login }: FetchRequest): Record<string, string> | undefined {
  return login === undefined ? undefined : { authorization: authorizationOf(login) };
}

/** got has no request URL when it could make nothing of the URL that it was given, and most often no error code then. */
function badUrl(error: Error): FetchError {
  return new FetchError('bad_url', messageOf(error));
}

function unwanted({ status, headers }: Answer, { accepts }: Asked): FetchError | undefined {
  if (accepts === undefined || status < 200 || status > 299) return undefined;
  const contentType = headers['content-type'];
  if (accepts(contentType)) return undefined;
  return new FetchError('content_type', `The answer is ${contentType ?? 'of no content type'}`, { status });
}

function destroyOn(signal: AbortSignal, stream: Request): void {
  const onAbort = (): void => {
    stream.destroy(abortedBy(signal));
  };
  const forget = (): void => signal.removeEventListener('abort', onAbort);
  signal.addEventListener('abort', onAbort, { once: true });
  stream.once('end', forget);
  stream.once('close', forget);
}
