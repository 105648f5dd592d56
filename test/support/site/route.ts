import type { IncomingMessage, ServerResponse } from 'node:http';

/** The input of a route: the parsed request and the content of the site. */
export interface Visit {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
  /** What the groups of the route's pattern matched. */
  readonly args: readonly string[];
  readonly site: SiteContent;
}

/** The content of a site that its routes need. */
export interface SiteContent {
  readonly origin: string;
  readonly pages: number;
  readonly pageBytes: number;
  readonly linksPerPage: number;
  readonly pagesPerSitemap: number;
  readonly robots: string;
  /** How often each key of `/flaky/` was requested. */
  readonly flaky: Map<string, number>;
}

/** A pattern of whole paths, and the function that answers them. */
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

/** Calls `tick` every `ms` until either side closes the response. */
export function every(ms: number, response: ServerResponse, tick: () => void): void {
  const timer = setInterval(tick, ms);
  response.once('close', () => clearInterval(timer));
}

/** Calls `then` after `ms`, unless the response closes before. */
export function after(ms: number, response: ServerResponse, then: () => void): void {
  const timer = setTimeout(then, ms);
  response.once('close', () => clearTimeout(timer));
}
