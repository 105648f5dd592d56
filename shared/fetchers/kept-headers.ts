/** The headers of an answer that are passed on. Cookies never are. */
const KEPT_HEADERS = [
  'age',
  'cache-control',
  'content-encoding',
  'content-language',
  'content-length',
  'content-type',
  'date',
  'etag',
  'expires',
  'last-modified',
  'link',
  'location',
  'retry-after',
  'server',
  'x-robots-tag',
] as const;

/** If one of these is repeated, Node.js keeps the first, as its documentation of `message.headers` says. */
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

/** The headers of an answer that are passed on, each as one text. Repeated ones are merged as Node.js does. */
export function keptHeaders(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name of KEPT_HEADERS) {
    const value = headers[name];
    if (value === undefined) continue;
    if (typeof value === 'string') kept[name] = value;
    else kept[name] = FIRST_ONLY.has(name) ? (value[0] ?? '') : value.join(', ');
  }
  return kept;
}
