import { hash } from 'node:crypto';
import { isObject } from '../is-object.ts';

/** Header names, in lower case, and their values. */
type Headers = Readonly<Record<string, string>>;

interface Entry {
  readonly headers: Headers;
  readonly variant: string;
}

/**
 * Headers that no file may set: those of the connection and the body, which the client writes; those that a proxy would apply to
 * itself; those that make an answer partial or conditional; and those that identify the crawler.
 */
const FORBIDDEN =
  /^(host|connection|keep-alive|te|trailer|transfer-encoding|upgrade|expect|content-.*|accept-encoding|proxy-.*|range|if-.*|user-agent|via|http2-settings)$/;

const HTTPS = 'https:';

/** The name of a header (RFC 9110 section 5.6.2). */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** The value of a header: visible characters, with blanks between them (RFC 9110 section 5.5). */
const VALUE = /^[\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?$/;

/**
 * The headers, including cookies, that a deployment sends to hosts of its choice. Entries are not merged. The one that applies is that of
 * the host itself, otherwise the one for the longest parent domain. If a host has an extra entry for https, that one applies over https.
 */
export class HostHeaders {
  static readonly none = new HostHeaders(new Map());
  /** Entries by politeness key, or by `*.` and a parent domain. Either may be preceded by `https://`. */
  readonly #entries: ReadonlyMap<string, Entry>;
  /** The names of all headers that are sent to any host. */
  readonly names: ReadonlySet<string>;

  constructor(byHost: ReadonlyMap<string, Headers>) {
    this.#entries = new Map([...byHost].map(([host, headers]) => [host, { headers, variant: digestOf(headers) }]));
    this.names = new Set([...byHost.values()].flatMap((headers) => Object.keys(headers)));
  }

  /** Returns the headers to send with a request; nothing after a redirect from another origin. */
  of(url: string, redirectedFrom = url): Headers | undefined {
    if (redirectedFrom !== url && originOf(redirectedFrom) !== originOf(url)) return undefined;
    return this.#entryOf(url)?.headers;
  }

  /** Returns a digest of the headers sent for a URL, by which a cache tells answers to different headers apart. */
  variantOf(url: string): string | undefined {
    return this.#entryOf(url)?.variant;
  }

  #entryOf(url: string): Entry | undefined {
    if (this.#entries.size === 0) return undefined;
    const { host = '', protocol } = URL.parse(url) ?? {};
    const entryNamed = (name: string): Entry | undefined =>
      (protocol === HTTPS ? this.#entries.get(`${HTTPS}//${name}`) : undefined) ?? this.#entries.get(name);
    const own = entryNamed(host);
    if (own !== undefined) return own;
    for (let dot = host.indexOf('.'); dot >= 0; dot = host.indexOf('.', dot + 1)) {
      const entry = entryNamed(`*${host.slice(dot)}`);
      if (entry !== undefined) return entry;
    }
    return undefined;
  }
}

/**
 * Reads the content of a `HOST_HEADERS` file.
 *
 * @returns the headers, or its problems, which name host and header but never a value
 */
export function parseHostHeaders(json: unknown): HostHeaders | { readonly problems: readonly string[] } {
  if (!isObject(json)) return { problems: ['expected an object of hosts, each with an object of headers'] };
  const byHost = new Map<string, Headers>();
  const problems: string[] = [];
  for (const [written, given] of Object.entries(json)) {
    const host = hostOf(written);
    if (host === undefined) {
      problems.push(
        `"${written}" is not a host such as example.com, https://example.com, example.com:8080 or *.example.com`,
      );
    } else if (byHost.has(host)) {
      problems.push(`"${written}" is listed twice`);
    } else if (!isObject(given)) {
      problems.push(`"${written}" has no object of headers`);
    } else {
      const headers: Record<string, string> = {};
      for (const [name, value] of Object.entries(given)) {
        const lower = name.toLowerCase();
        const problem = Object.hasOwn(headers, lower) ? 'is listed twice' : headerProblem(lower, value);
        if (problem === undefined) headers[lower] = value as string;
        else problems.push(`"${written}", header "${name}": ${problem}`);
      }
      byHost.set(host, headers);
    }
  }
  return problems.length > 0 ? { problems } : new HostHeaders(byHost);
}

/** Says why a header can't be sent; nothing if it can. Its name is in lower case. */
export function headerProblem(name: string, value: unknown): string | undefined {
  // Node.js and got keep headers in plain objects, which would lose `__proto__`.
  if (!TOKEN.test(name) || name === '__proto__') return 'is not the name of a header';
  if (name === 'user-agent') return 'can be set by USER_AGENT only';
  if (FORBIDDEN.test(name)) return `can't be set: it belongs to the connection, or changes what an answer means`;
  return headerValueProblem(value);
}

/** Says why the value of a header can't be sent; nothing if it can. */
export function headerValueProblem(value: unknown): string | undefined {
  if (typeof value === 'string' && VALUE.test(value)) return undefined;
  return 'expected its value to be a text of one line, without characters beyond U+00FF or blanks around it';
}

/** Returns the politeness key of a host as written, keeping a leading `https://` and `*.`. */
function hostOf(written: string): string | undefined {
  const [, scheme = '', star = '', name = '', port = ''] =
    /^(https:\/\/)?(\*\.)?(\[[0-9a-f:.]+\]|[^\s/:@?#[\]*\\]+)(:[1-9]\d{0,4})?$/i.exec(written) ?? [];
  const hostname = URL.parse(`http://${name}/`)?.hostname ?? '';
  if (name === '' || hostname === '') return undefined;
  if (star !== '' && /^(\[.*\]|[\d.]+)$/.test(hostname)) return undefined;
  return scheme.toLowerCase() + star + hostname + (scheme !== '' && port === ':443' ? '' : port);
}

function digestOf(headers: Headers): string {
  const sorted = Object.entries(headers).sort(([a], [b]) => (a < b ? -1 : 1));
  return hash('sha256', JSON.stringify(sorted)).slice(0, 16);
}

function originOf(url: string): string | undefined {
  return URL.parse(url)?.origin;
}
