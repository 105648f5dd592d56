import type { PageVisit } from '../../../ports/frontier/frontier.ts';
import { wellFormedJson } from '../../../runtime/printable.ts';
import type { KnownPage } from '../../../task/task/known-page.ts';

/** Writes a visited page as an argument of `settle.lua`; empty for a run that remembers no pages. */
export function writeVisit(page: PageVisit | undefined): string {
  if (page === undefined) return '';
  const visit: PageVisit = { ...page, askedMsAgo: Math.max(0, Math.round(page.askedMsAgo)) };
  return wellFormedJson(JSON.stringify(visit));
}

/** Reads the answer of `admit.lua` about a page; undefined if the page is unknown. */
export function readKnownPage(fields: readonly string[]): KnownPage | undefined {
  const [fetchedAt, etag, modified, contentHash = '', bytes, readAs = '', claimed] = fields;
  if (fetchedAt === undefined) return undefined;
  return {
    fetchedAt: Number(fetchedAt),
    ...(etag ? { etag } : {}),
    ...(modified ? { modified } : {}),
    contentHash,
    bytes: Number(bytes),
    readAs,
    ...(claimed ? { claimed } : {}),
  };
}
