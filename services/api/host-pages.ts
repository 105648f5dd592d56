import { z } from 'zod';
import { compareHosts, type ListedHost } from './host-list.ts';
import { PageCursor } from './http/page-cursor.ts';

/** What waited for the host that a page ended with, and that host. */
const places = new PageCursor(z.tuple([z.int().min(0), z.string()]));

/**
 * One page of a list of hosts, and where the next one begins: behind the host that this one ended with, wherever that is by then. So hosts
 * that come or go between two pages shift none; one whose waiting tasks take it past that host comes twice, or on no page.
 *
 * @param cursor `next` of the page before; the first page without one
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
