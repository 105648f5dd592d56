import type { Task } from '../task/task.ts';
import { authorityOf, canonicalOf, hostKeyOf } from './url.ts';

/**
 * Where links may lead, relative to their seed.
 *
 * | scope    | links are followed to                                                                     |
 * |----------|-------------------------------------------------------------------------------------------|
 * | `host`   | the same host, port included                                                              |
 * | `domain` | every host of the registered domain: `shop.example.co.uk` from `www.example.co.uk`        |
 * | `path`   | the folder of the seed, on its host: `/docs/a` and `/docs/b/c` from `/docs/index.html`    |
 *
 * The scheme and the escaping of a folder make no difference: `/%7Ea/` is `/~a/`. If a seed redirects to another host, such as its
 * `www`, links to that host are followed too.
 */
export const SCOPES = ['host', 'domain', 'path'] as const;
export type Scope = (typeof SCOPES)[number];

/** Tests a link. Returns nothing if it is out of scope, otherwise the `within` of {@link TASK_FIELDS} for the link's task. */
export type ScopeTest = (link: {
  readonly href: string;
  readonly host: string;
}) => { readonly within?: string } | undefined;

/** Makes the test for the links of a page. @param domainOf for scope `domain`: returns the registered domain of a host name */
export function scopeTest(
  scope: Scope,
  task: Pick<Task, 'url' | 'host' | 'depth' | 'followed' | 'within'>,
  finalUrl: string,
  domainOf: (hostname: string) => string,
): ScopeTest {
  switch (scope) {
    case 'host': {
      // Don't compare politeness keys: they ignore a dot at the end of a host name, but with that dot a URL is another page.
      const own = new Set((isSeed(task) ? [task.url, finalUrl] : [task.url]).map(authorityOf));
      return ({ href }) => (own.has(authorityOf(href)) ? {} : undefined);
    }
    case 'domain': {
      const hosts = new Set(isSeed(task) ? [task.host, hostKeyOf(new URL(finalUrl))] : [task.host]);
      const domains = new Set([...hosts].map((host) => domainOf(withoutPort(host))));
      return ({ host }) => (hosts.has(host) || domains.has(domainOf(withoutPort(host))) ? {} : undefined);
    }
    case 'path': {
      const folders = task.within === undefined ? foldersOf(task, finalUrl) : [canonicalOf(task.within)];
      return ({ href }) => {
        const place = placeOf(href);
        const within = folders.find((folder) => place.startsWith(folder));
        return within === undefined ? undefined : { within };
      };
    }
  }
}

/** Is a task a seed, which no page has led to? A person who names a site also means the address it redirects to. */
export function isSeed({ depth, followed }: Pick<Task, 'depth' | 'followed'>): boolean {
  return depth === 0 && followed !== true;
}

/** Returns the folder of a seed, and the same folder on a host it redirects to, unless the redirect leads out of that folder. */
function foldersOf({ url }: Pick<Task, 'url'>, finalUrl: string): string[] {
  const own = folderOf(url);
  const there = new URL(finalUrl).host + own.slice(new URL(url).host.length);
  return placeOf(finalUrl).startsWith(there) ? [own, there] : [own];
}

/** Returns host and path of a serialised URL, up to the path's last slash, without credentials and query. */
function folderOf(href: string): string {
  const place = placeOf(href);
  const query = place.search(/[?#]/);
  return place.slice(0, place.lastIndexOf('/', query < 0 ? undefined : query) + 1);
}

/** Returns the canonical form of a serialised URL, without scheme and credentials. */
function placeOf(written: string): string {
  const href = canonicalOf(written);
  const start = href.indexOf('//') + 2;
  const path = href.indexOf('/', start);
  const at = href.lastIndexOf('@', path);
  return href.slice(at > start ? at + 1 : start);
}

function withoutPort(host: string): string {
  return host.replace(/:\d+$/, '');
}
