import http from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import got, { type Got, type Request } from 'got';
import { FetchError } from '../../ports/fetcher.ts';
import { codeOf, messageOf } from '../../runtime/errors.ts';
import { Answer, type AnswerHead, abortedBy } from '../answer.ts';
import { type Asked, commonHeaders, ownHeaders } from '../asked.ts';
import { toFetchError } from '../error-codes.ts';
import { type FetcherOptions, MOST_HEADER_BYTES } from '../fetcher-options.ts';
import { FloodWatch, mostOnTheWire } from '../flood-watch.ts';
import { HttpFetcher } from '../http-fetcher.ts';
import { ProxiedRoutes, type Route } from '../proxies/proxied-routes.ts';
import type { RequestClock } from '../request-clock.ts';
import { requestTarget } from '../request-url.ts';
import { type Dialed, DirectAgents, notingSent } from './agents.ts';
import { ProxyAgents } from './proxy-agents.ts';
import { ReceivedBody } from './received-body.ts';

type OnResponse = (response: http.IncomingMessage) => void;

const MOST_AT_ONCE = 1_024;

/**
 * The `Fetcher` on `got`. It keeps connections alive, keeps no cookies and follows no redirects. It decodes bodies itself: got would hide a
 * body's coding, and start three streams for each. It reads got's streams, since got's promises don't limit the size of a body.
 */
export class GotFetcher extends HttpFetcher {
  readonly mostAtOnce = MOST_AT_ONCE;
  readonly #client: Got;
  readonly #agents: DirectAgents;
  readonly #routes: ProxiedRoutes<ProxyAgents> | undefined;

  constructor(options: FetcherOptions) {
    super(options, ['http/1.1']);
    const { userAgent, proxies: rotation } = options;
    const { timeoutMs, phaseMs, guard, idle, connecting } = this;
    this.#agents = new DirectAgents(this.dial, idle);
    this.#routes =
      rotation &&
      new ProxiedRoutes({ rotation, open: (proxy) => new ProxyAgents(proxy, { guard, idle, ...connecting }) });
    this.#client = got.extend({
      agent: { http: this.#agents.http, https: this.#agents.https },
      timeout: { send: phaseMs, response: timeoutMs },
      headers: commonHeaders(userAgent),
      retry: { limit: 0 },
      throwHttpErrors: false,
      decompress: false,
      strictContentLength: true,
      followRedirect: false,
    });
  }

  async stop(): Promise<void> {
    this.#agents.close();
    this.#routes?.close();
  }

  protected ask(request: Asked, clock: RequestClock): Promise<Answer> {
    if (this.#routes === undefined) return this.#askBy(request, clock);
    const { url, timeoutMs = this.timeoutMs } = request;
    return this.#routes.ask(url, timeoutMs, clock, (route) => this.#askBy(request, clock, route));
  }

  #askBy(request: Asked, clock: RequestClock, route?: Route<ProxyAgents>, isRepeat = false): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const { signal } = request;
      if (signal?.aborted) {
        reject(abortedBy(signal));
        return;
      }
      const timeoutMs = route?.timeoutMs ?? request.timeoutMs ?? this.timeoutMs;
      const endsAtMs = clock.elapsedMs + timeoutMs;
      const { maxBodyBytes = Number.POSITIVE_INFINITY } = request;
      const limits = { maxBodyBytes, memory: this.memory, clock, timeoutMs, endsAtMs, signal };
      const onGone = (gone: () => void): void => {
        if (stream.closed) gone();
        else stream.once('close', gone);
      };
      const own = ownHeaders(request, this.hostHeaders);
      const { method = 'GET', body, mayRepeat = true } = request.send ?? {};
      // A request that must not be sent twice gets new connections: the server might be closing an idle one.
      const direct = mayRepeat || route !== undefined ? undefined : new DirectAgents(this.dial, this.idle);
      const proxied = mayRepeat ? route?.connections : route?.connections.fresh();
      const stream: Request = this.#client.stream(request.url, {
        ...(own === undefined ? {} : { headers: own }),
        ...(method === 'GET' ? {} : { method }),
        // Without a body, got would wait for one to be written.
        ...(method === 'GET' || method === 'HEAD' ? {} : { body: body ?? '' }),
        ...(direct === undefined ? {} : { agent: { http: direct.http, https: direct.https } }),
        request: (route && proxied?.requests(route, { clock, onGone })) ?? requestBy({ clock, onGone }),
      });
      // The only connection of these agents closes with the request, however that ends.
      if (!mayRepeat) (direct ?? proxied)?.close();
      const late = (): void => {
        const { response } = stream;
        const status = response === undefined ? {} : { status: response.statusCode };
        stream.destroy(new FetchError('timeout', `The answer was not complete within ${timeoutMs} ms`, status));
      };
      clock.setAlarm(endsAtMs, late);
      stream.once('request', (sent: http.ClientRequest) => {
        sent.once('socket', (socket) => watchForFlood(sent, socket, stream));
      });
      stream.once('close', () => {
        clock.clearAlarm(late);
        leaveUnread(stream);
      });
      if (route !== undefined) stream.once('close', route.giveUp);
      // This listener stays: an error after the headers concerns the body's reader, and can come before there is one.
      stream.on('error', (error) => {
        if (mayRepeat && !isRepeat && isLostByKeptConnection(stream, error)) {
          // The repetition still needs the route.
          if (route !== undefined) stream.off('close', route.giveUp);
          resolve(this.#askBy(request, clock, route, true));
          return;
        }
        const isAsked = stream.requestUrl !== undefined;
        reject(isAsked ? toFetchError(error) : badUrl(error));
      });
      stream.on('response', (response) => {
        // Read `socket` now: at the end of an answer, a kept connection is no longer attached to it.
        const { url, statusCode: status, socket } = response;
        response.once('end', () => {
          clock.clearAlarm(late);
          const problem = problemAtEnd(response, socket);
          if (problem !== undefined) stream.destroy(toFetchError(problem, status));
        });
        const answer = new Answer(
          { method, url, status, headers: headersOf(response) },
          new ReceivedBody(stream),
          limits,
        );
        const problem = route?.problemOf({ url, status }) ?? answer.problemFor(request);
        if (problem === undefined) resolve(answer);
        else stream.destroy(problem);
      });
      if (signal !== undefined) destroyOn(signal, stream);
    });
  }
}

/** Ends a request whose server sends far more than the answer. The stream's listeners are removed before it closes, so the request's end counts. */
function watchForFlood(sent: http.ClientRequest, socket: Socket, stream: Request): void {
  if (sent.destroyed) return;
  const answerBytes = (): number => mostOnTheWire(1, stream.downloadProgress.transferred);
  const watch = new FloodWatch(socket, answerBytes, (error) => stream.destroy(error));
  sent.once('close', () => watch.stop());
}

/**
 * Makes requests with only the few options they need. got passes forty to Node.js, most of them undefined, and Node.js copies them four
 * times on the way to a socket: an eighth of got's cost per page. Answers are read as browsers read them: with folded headers, lines that
 * end with only a line feed, and a length beside chunks.
 */
function requestBy({ clock, onGone }: Pick<Dialed, 'clock' | 'onGone'>) {
  return (url: URL, options: https.RequestOptions, onResponse?: OnResponse): http.ClientRequest => {
    const { request } = url.protocol === 'https:' ? https : http;
    const { method, headers = {}, agent } = options;
    const path = requestTarget(url);
    const read = { insecureHTTPParser: true, maxHeaderSize: MOST_HEADER_BYTES };
    const dialed: Dialed = { method, path, headers, agent, clock, onGone, ...read };
    return notingSent(request(url, dialed, onResponse), clock, true);
  };
}

/**
 * Returns whether a server closed an idle connection while the request was being written to it. That says nothing about the host, and a
 * client may repeat such a request on another connection (RFC 9112, section 9.3.1).
 */
function isLostByKeptConnection(stream: Request, error: Error): boolean {
  if (stream.reusedSocket !== true || stream.response !== undefined) return false;
  const code = codeOf(error);
  return code === 'ECONNRESET' || code === 'EPIPE';
}

/**
 * Returns what is wrong with an answer that Node.js and got consider complete. Either only the end of its connection ends its body, and an
 * error broke that off, or more bytes follow the answer. Returns nothing if it is complete.
 */
function problemAtEnd({ headers, statusCode }: http.IncomingMessage, socket: Socket): Error | undefined {
  const { 'content-length': length, 'transfer-encoding': coding } = headers;
  const hasEnd = coding === undefined ? length !== undefined : /(?:^|,)[ \t]*chunked$/i.test(coding);
  if (!hasEnd && statusCode !== 204 && statusCode !== 304) return socket.errored ?? undefined;
  // Node.js then closes the connection without an error.
  const isDoubled = socket.destroyed && socket.errored === null && !socket.readableEnded;
  return isDoubled ? new Error('The server sent more than the answer') : undefined;
}

/**
 * Closes the connection of an answer that is not read to its end. got destroys its request, but Node.js 26 considers a request finished
 * once its answer has arrived, and waits for that to be read.
 */
function leaveUnread({ response }: Request): void {
  if (response?.readableEnded === false) response.destroy();
}

/** Returns the headers as Node.js has them, but with several `X-Robots-Tag` kept apart: each may be for another crawler. */
function headersOf(response: http.IncomingMessage): AnswerHead['headers'] {
  const { headers } = response;
  const tags = headers['x-robots-tag'] === undefined ? undefined : response.headersDistinct['x-robots-tag'];
  return tags === undefined ? headers : { ...headers, 'x-robots-tag': tags };
}

/** Returns the error of a URL that got can't use. got's error then has no request URL, and mostly no code. */
function badUrl(error: Error): FetchError {
  return new FetchError('bad_url', messageOf(error));
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
