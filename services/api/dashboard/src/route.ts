import { useEffect, useState } from 'preact/hooks';

/** A place in the dashboard: what stands behind the `#` of its address. */
export interface Route {
  /** Parts of the path, decoded: `runs`, `20261123-a1`. */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
}

/** What a link begins with that signs in. Its secret may hold any character. */
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

/** The address of a place, for links. Empty values of the query are left out. */
export function linkTo(path: readonly string[], query: Readonly<Record<string, string | undefined>> = {}): string {
  const given = Object.entries(query).filter((pair): pair is [string, string] => Boolean(pair[1]));
  const search = new URLSearchParams(given).toString();
  return `#/${path.map(encodeURIComponent).join('/')}${search === '' ? '' : `?${search}`}`;
}

/** Where the reader is, following links and the buttons of the browser. */
export function useRoute(): Route {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const onChange = (): void => setHash(location.hash);
    addEventListener('hashchange', onChange);
    // It may have changed before anybody listened.
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
