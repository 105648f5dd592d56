import type { Task } from '../task/task.ts';
import { authorityOf, canonicalOf, hostKeyOf } from './url.ts';

/**
 * How far from a seed its links are followed.
 *
 * | scope    | to                                                                                        |
 * |----------|-------------------------------------------------------------------------------------------|
 * | `host`   | the same host, port included                                                              |
 * | `domain` | every host of the registered domain: `shop.example.co.uk` from `www.example.co.uk`        |
 * | `path`   | the folder of the seed, on its host: `/docs/a` and `/docs/b/c` from `/docs/index.html`    |
 *
 * Neither the scheme nor how a folder is escaped matters: `/%7Ea/` is `/~a/`. If a seed redirects to another host, such as its
 * `www`, links to that host are followed, too.
 */
export const SCOPES = ['host', 'domain', 'path'] as const;
export type Scope = (typeof SCOPES)[number];

/** Nothing if a link is out of scope; else the value of `within` of {@link TASK_FIELDS} for the link's task. */
export type ScopeTest = (link: {
  readonly href: string;
  readonly host: string;
}) => { readonly within?: string } | undefined;

/** @param domainOf for scope `domain`: the registered domain of a host name */
export function scopeTest(
  scope: Scope,
  task: Pick<Task, 'url' | 'host' | 'depth' | 'followed' | 'within'>,
  finalUrl: string,
  domainOf: (hostname: string) => string,
): ScopeTest {
  switch (scope) {
    case 'host': {
      // Not by their politeness keys: with a dot at the end of its host name, a page is another one.
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

/** Did no page lead to a task? Somebody who names a site means it to be found at its new address, too. */
export function isSeed({ depth, followed }: Pick<Task, 'depth' | 'followed'>): boolean {
  return depth === 0 && followed !== true;
}

/** The folder of a seed, and the same on a host that it redirects to, unless the redirect leads out of that folder. */
function foldersOf({ url }: Pick<Task, 'url'>, finalUrl: string): string[] {
  const own = folderOf(url);
  const there = new URL(finalUrl).host + own.slice(new URL(url).host.length);
  return placeOf(finalUrl).startsWith(there) ? [own, there] : [own];
}

/** Host and path of a serialised URL, up to the path's last slash, without credentials and query. */
function folderOf(href: string): string {
  const place = placeOf(href);
  const query = place.search(/[?#]/);
  return place.slice(0, place.lastIndexOf('/', query < 0 ? undefined : query) + 1);
}

/** The canonical form of a serialised URL, without scheme and credentials. */
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
