import { useEffect, useState } from 'preact/hooks';

/** A place in the dashboard: the part of its address after the `#`. */
export interface Route {
  /** The decoded parts of the path, such as `runs` and `20261123-a1`. */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
}

/** Beginning of a link that signs in. The secret after it can contain any character. */
export const TOKEN = 'token=';

/** Reads `#/dead-letters?host=example.com`. */
export function readRoute(hash: string): Route {
  const text = hash.startsWith('#') ? hash.slice(1) : hash;
  if (text.startsWith(TOKEN)) return { path: [decoded(text)], query: new URLSearchParams() };
  const at = text.indexOf('?');
  const path = at === -1 ? text : text.slice(0, at);
  return {
    path: path
      .split('/')
      .filter((part) => part !== '')
      .map(decoded),
    query: new URLSearchParams(at === -1 ? '' : text.slice(at + 1)),
  };
}

/** Returns the address of a place. Empty values of the query are left out. */
export function linkTo(path: readonly string[], query: Readonly<Record<string, string | undefined>> = {}): string {
  const given = Object.entries(query).filter((pair): pair is [string, string] => Boolean(pair[1]));
  const search = new URLSearchParams(given).toString();
  return `#/${path.map(encodeURIComponent).join('/')}${search === '' ? '' : `?${search}`}`;
}

/** Returns the current place, and follows links and the browser's buttons. */
export function useRoute(): Route {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const onChange = (): void => setHash(location.hash);
    addEventListener('hashchange', onChange);
    // The address might have changed before the listener was added.
    onChange();
    return () => removeEventListener('hashchange', onChange);
  }, []);
  return readRoute(hash);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
