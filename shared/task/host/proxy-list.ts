/** A proxy that requests may go through. */
export interface ProxyAddress {
  readonly scheme: ProxyScheme;
  /** Host name or address, without brackets. */
  readonly host: string;
  readonly port: number;
  readonly login: { readonly user: string; readonly password: string } | undefined;
  /** `<scheme>://<host>:<port>`, as it is shown everywhere: without the login. */
  readonly name: string;
}

type ProxyScheme = 'http' | 'https' | 'socks5';

const BEGINNING = /^(https?|socks5):\/\//i;
/** Advice for a login that isn't escaped, and is therefore read as something else. */
const IN_A_LOGIN = '(in a login, write / ? # @ , as %2F %3F %23 %40 %2C)';

/** Ports for entries that don't name one. */
const DEFAULT_PORTS: Readonly<Record<ProxyScheme, number>> = { http: 80, https: 443, socks5: 1080 };

/**
 * Reads the entries of `PROXY_URL`.
 *
 * @returns the proxies, or the problems; these name entries by position, since an entry may contain a password
 */
export function parseProxies(
  entries: readonly string[],
): readonly ProxyAddress[] | { readonly problems: readonly string[] } {
  const proxies: ProxyAddress[] = [];
  const problems: string[] = [];
  for (const [index, entry] of entries.entries()) {
    const read = parseProxy(entry);
    if (typeof read === 'string') problems.push(`entry ${index + 1} ${read}`);
    else proxies.push(read);
  }
  return problems.length > 0 ? { problems } : proxies;
}

function parseProxy(entry: string): ProxyAddress | string {
  const url = URL.parse(entry);
  const scheme = url?.protocol.slice(0, -1);
  if (url === null && BEGINNING.test(entry)) return `is not a valid URL ${IN_A_LOGIN}`;
  if (scheme === 'socks5h') return 'begins with socks5h://: names are looked up on this machine, so write socks5://';
  if (url === null || !isScheme(scheme)) return 'does not begin with http://, https:// or socks5://';
  if (url.hostname === '') return 'names no host';
  if (!['', '/'].includes(url.pathname) || url.search !== '' || url.hash !== '') {
    return `has more than a login, a host and a port ${IN_A_LOGIN}`;
  }
  const port = url.port === '' ? DEFAULT_PORTS[scheme] : Number(url.port);
  if (port === 0) return 'has the port 0';
  const login = loginOf(url);
  if (login === 'broken') return 'has a login with a % that is not an escape (write %25)';
  if (login !== undefined && scheme !== 'socks5' && login.user.includes(':')) return 'has a user name with a colon';
  if (login !== undefined && scheme === 'socks5' && isTooLong(login)) return 'has a login of more than 255 bytes';
  return {
    scheme,
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port,
    login,
    name: `${scheme}://${url.hostname}:${port}`,
  };
}

function isScheme(text: string | undefined): text is ProxyScheme {
  return text !== undefined && Object.hasOwn(DEFAULT_PORTS, text);
}

function loginOf({ username, password }: URL): ProxyAddress['login'] | 'broken' {
  if (username === '' && password === '') return undefined;
  try {
    return { user: decodeURIComponent(username), password: decodeURIComponent(password) };
  } catch {
    return 'broken';
  }
}

/** Is a SOCKS login too long? RFC 1929 has one byte for the length of each part. */
function isTooLong({ user, password }: { readonly user: string; readonly password: string }): boolean {
  return Buffer.byteLength(user) > 255 || Buffer.byteLength(password) > 255;
}
