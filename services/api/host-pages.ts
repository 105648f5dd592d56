import { z } from 'zod';
import { compareHosts, type ListedHost } from './host-list.ts';
import { PageCursor } from './http/page-cursor.ts';

/** The last host of a page, after the number of its waiting tasks. */
const places = new PageCursor(z.tuple([z.int().min(0), z.string()]));

/**
 * Returns one page of a list of hosts, and a cursor for the next. The next page begins after the last host of this one, wherever that
 * host is by then, so hosts that come or go in between shift nothing. A host whose waiting tasks move it across that point in the meantime
 * appears on two pages or on none.
 *
 * @param cursor `next` of the previous page; undefined for the first
 */
export function pageOfHosts(
  found: readonly ListedHost[],
  { cursor, limit }: { readonly cursor: string | undefined; readonly limit: number },
): { readonly page: readonly ListedHost[]; readonly next: string | null } {
  const first = cursor === undefined ? 0 : firstBehind(found, cursor);
  const page = found.slice(first, first + limit);
  const last = page.at(-1);
  if (last === undefined || first + page.length >= found.length) return { page, next: null };
  return { page, next: places.written([last.waiting, last.host]) };
}

function firstBehind(found: readonly ListedHost[], cursor: string): number {
  const [waiting, host] = places.read(cursor);
  const at = found.findIndex((each) => each.host === host);
  if (at >= 0) return at + 1;
  const behind = found.findIndex((each) => compareHosts(each, { waiting, host }) > 0);
  return behind < 0 ? found.length : behind;
}
