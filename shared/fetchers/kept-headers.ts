import { joinedRobotsTags } from '../task/robots/robots-directives.ts';

/** The headers of an answer that are not passed on: cookies, and those of the connection (RFC 9110 section 7.6.1). */
const DROPPED_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-connection',
  'set-cookie',
  'set-cookie2',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Headers of which Node.js keeps the first if they are repeated; see `message.headers` in its documentation. */
const FIRST_ONLY: ReadonlySet<string> = new Set([
  'age',
  'content-length',
  'content-type',
  'etag',
  'expires',
  'last-modified',
  'location',
  'retry-after',
  'server',
]);

const NO_LINES: readonly string[] = [];

/** Control characters, which are not allowed in a header. A tab is. */
const CONTROL = /[\x00-\x08\x0a-\x1f\x7f]/g;

/**
 * Returns the headers of an answer that are passed on, names as given, each value as one string: all but cookies, those of the connection
 * and the pseudo-headers of HTTP/2. Repeated ones are merged as in Node.js, except `X-Robots-Tag`:
 * see {@link joinedRobotsTags}. Control characters become blanks (RFC 9110 section 5.5).
 */
export function keptHeaders(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || name.startsWith(':') || DROPPED_HEADERS.has(name)) continue;
    const text = typeof value === 'string' ? value : joined(name, value);
    kept[name] = text.replace(CONTROL, ' ').trim();
  }
  return kept;
}

function joined(name: string, values: readonly string[]): string {
  if (FIRST_ONLY.has(name)) return values[0] ?? '';
  return name === 'x-robots-tag' ? joinedRobotsTags(values) : values.join(', ');
}

/** Returns the `Set-Cookie` lines of an answer, without those that contain a control character (RFC 6265bis section 5.6). */
export function cookieLines(header: string | readonly string[] | undefined): readonly string[] {
  if (header === undefined) return NO_LINES;
  const lines = typeof header === 'string' ? [header] : header;
  return lines.filter((line) => line.search(CONTROL) < 0);
}
