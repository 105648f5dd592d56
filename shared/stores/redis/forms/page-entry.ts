import type { KnownPage } from '../../../task/task/known-page.ts';

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
