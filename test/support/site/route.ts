import type { IncomingMessage, ServerResponse } from 'node:http';

/** What a route is given: the request, parsed, and what the site is made of. */
export interface Visit {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
  /** What the groups of the route's pattern matched. */
  readonly args: readonly string[];
  readonly site: SiteContent;
}

/** What a site is made of, as far as its routes have to know. */
export interface SiteContent {
  readonly origin: string;
  readonly pages: number;
  readonly pageBytes: number;
  readonly linksPerPage: number;
  readonly pagesPerSitemap: number;
  readonly robots: string;
  /** How often each key of `/flaky/` was asked for. */
  readonly flaky: Map<string, number>;
}

/** A pattern of paths, whole, and what answers them. */
export type Route = readonly [pattern: RegExp, answer: (visit: Visit) => void];

/** The number in the query, or `fallback`. */
export function numberIn(url: URL, name: string, fallback: number): number {
  const value = url.searchParams.get(name);
  return value === null ? fallback : Number(value);
}

/** Answers 200 with a body of a known length. */
export function send(response: ServerResponse, type: string, body: string | Uint8Array, headers = {}): void {
  response.writeHead(200, { 'content-type': type, 'content-length': Buffer.byteLength(body), ...headers });
  response.end(body);
}

/** Calls `tick` every `ms` until the response is closed, by either side. */
export function every(ms: number, response: ServerResponse, tick: () => void): void {
  const timer = setInterval(tick, ms);
  response.once('close', () => clearInterval(timer));
}

/** Calls `then` after `ms`, unless the response is closed before. */
export function after(ms: number, response: ServerResponse, then: () => void): void {
  const timer = setTimeout(then, ms);
  response.once('close', () => clearTimeout(timer));
}
