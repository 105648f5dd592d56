import http, { type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import { LoopbackServer } from './listeners/loopback-server.ts';
import { ANSWERS } from './site/answers.ts';
import { selfSigned } from './site/certificate.ts';
import { CODED } from './site/coded.ts';
import { CONTENT } from './site/content.ts';
import { FAULTS } from './site/faults.ts';
import { type LoggedRequest, RequestLog } from './site/request-log.ts';
import { after, type Route, type SiteContent } from './site/route.ts';

/** Options of a {@link TestSite}. */
export interface TestSiteOptions {
  /** Default: 100. */
  readonly pages?: number;
  /** Minimum size of a page in bytes; default: 1 000. */
  readonly pageBytes?: number;
  /** Default: 3. */
  readonly linksPerPage?: number;
  /** Pages per sitemap of the sitemap index; default: 50. */
  readonly pagesPerSitemap?: number;
  /** Delay of every answer. */
  readonly delayMs?: number;
  /** Serves `https` with a self-signed certificate. */
  readonly tls?: boolean;
}

/** Answers one path in a test's own way. */
export type TestHandler = (request: IncomingMessage, response: ServerResponse) => void;

const ROUTES: readonly Route[] = [...CONTENT, ...ANSWERS, ...CODED, ...FAULTS];

/**
 * The tests' own origin: a real server on a free port of 127.0.0.1 that logs its requests.
 *
 * Its answers are in the tables of `site/content.ts`, `site/answers.ts`, `site/coded.ts` and `site/faults.ts`.
 * Anything else is a 404.
 */
export class TestSite {
  /** The body of `/robots.txt`. By default it allows all, and names the sitemap. */
  robots = '';
  readonly #options: TestSiteOptions;
  readonly #server: Server;
  readonly #log = new RequestLog();
  readonly #handlers = new Map<string, TestHandler>();
  readonly #flaky = new Map<string, number>();
  readonly #loopback: LoopbackServer;
  #before: (() => Promise<void>) | undefined;
  #turn = Promise.resolve();
  #connections = 0;
  #open = 0;
  #mostOpen = 0;

  constructor(options: TestSiteOptions = {}) {
    this.#options = options;
    const answer = (request: IncomingMessage, response: ServerResponse): void => this.#answer(request, response);
    this.#server = options.tls ? https.createServer(selfSigned, answer) : http.createServer(answer);
    // Otherwise idle connections would close while a test is stopped in a debugger.
    this.#server.keepAliveTimeout = 0;
    this.#server.on('connection', (socket: Socket) => {
      this.#connections += 1;
      this.#loopback.keep(socket);
    });
    this.#loopback = new LoopbackServer(this.#server);
  }

  async start(): Promise<void> {
    await this.#loopback.listen();
    this.reset();
  }

  /** Cuts all connections. */
  async stop(): Promise<void> {
    await this.#loopback.stop();
  }

  /** Forgets all requests and handlers, and restores the defaults. */
  reset(): void {
    this.#log.clear();
    this.#handlers.clear();
    this.#flaky.clear();
    this.#before = undefined;
    this.#connections = 0;
    this.robots = `User-agent: *\nAllow: /\nSitemap: ${this.origin}/sitemap.xml\n`;
  }

  /** `http://127.0.0.1:<port>` */
  get origin(): string {
    return `${this.#options.tls ? 'https' : 'http'}://${this.host}`;
  }

  /** The politeness key of its URLs. */
  get host(): string {
    return `127.0.0.1:${this.port}`;
  }

  get port(): number {
    return this.#loopback.port;
  }

  url(path: string): string {
    return this.origin + path;
  }

  /** Answers one path, given without its query, in the test's own way. */
  on(path: string, handler: TestHandler): void {
    this.#handlers.set(path, handler);
  }

  /** Runs `act` before each answer, for one request at a time. */
  holdBefore(act: () => Promise<void>): void {
    this.#before = act;
  }

  /** The requests since the last `reset`, in order. */
  get requests(): readonly LoggedRequest[] {
    return this.#log.entries;
  }

  /** How often the path, with its query, was requested. */
  count(path: string): number {
    return this.#log.count(path);
  }

  /** Resolves once the path, with its query, has been requested `times` times. */
  arrival(path: string, times = 1): Promise<void> {
    return this.#log.arrival(path, times);
  }

  /** Resolves once `times` requests have arrived in all. */
  arrivals(times: number): Promise<void> {
    return this.#log.arrivals(times);
  }

  /** Requests that are being answered now. */
  get open(): number {
    return this.#open;
  }

  /** The most requests that were being answered at once. */
  get mostOpen(): number {
    return this.#mostOpen;
  }

  /** Connections made since the last `reset`. */
  get connections(): number {
    return this.#connections;
  }

  /** Resolves once no connection is open. If a client leaks one, the test times out. */
  async disconnection(): Promise<void> {
    await this.#loopback.allClosed();
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    this.#log.add(request);
    this.#open += 1;
    this.#mostOpen = Math.max(this.#mostOpen, this.#open);
    response.once('close', () => {
      this.#open -= 1;
    });
    const { delayMs = 0 } = this.#options;
    if (this.#before !== undefined) {
      this.#turn = this.#turn.then(this.#before);
      void this.#turn.then(() => this.#route(request, response));
    } else if (delayMs === 0) this.#route(request, response);
    else after(delayMs, response, () => this.#route(request, response));
  }

  #route(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? '/', this.origin);
    const handler = this.#handlers.get(url.pathname);
    if (handler !== undefined) {
      handler(request, response);
      return;
    }
    for (const [pattern, answer] of ROUTES) {
      const match = pattern.exec(url.pathname);
      if (match === null) continue;
      answer({ request, response, url, args: match.slice(1), site: this.#content });
      return;
    }
    response.writeHead(404).end('nothing here');
  }

  get #content(): SiteContent {
    const { pages = 100, pageBytes = 1_000, linksPerPage = 3, pagesPerSitemap = 50 } = this.#options;
    const { origin, robots } = this;
    return { origin, robots, pages, pageBytes, linksPerPage, pagesPerSitemap, flaky: this.#flaky };
  }
}
