import { MAX_BASE_LENGTH } from '../task/page-limits.ts';
import { type LinkBase, linkBase, resolveLink, withoutCredentials } from '../url/url.ts';

/**
 * What relative locations are resolved against: the URL of a document, or an `xml:base` (https://www.w3.org/TR/xmlbase/).
 * The document's credentials are not passed on. Nothing if it can't be a base: the enclosing base then applies.
 *
 * @param outer what a relative base is itself resolved against
 */
export function locationBase(written: string, outer?: LinkBase): LinkBase | undefined {
  const url = URL.parse(written.trim(), outer?.href);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return undefined;
  const href = withoutCredentials(url.href);
  // A longer base would make every short location as long.
  return href.length > MAX_BASE_LENGTH ? undefined : linkBase(href);
}

/**
 * A location of a sitemap or feed, made absolute. If it can't be resolved it is returned as written, and later found to be
 * malformed.
 */
export function resolveLocation(written: string, base: LinkBase | undefined): string {
  if (base === undefined || HAS_SCHEME.test(written) || !isReference(written, base)) return written;
  return resolveLink(written, base) ?? written;
}

const HAS_SCHEME = /^[a-z][a-z0-9+.-]*:/i;

/** Prose, and a URL that lacks its scheme, are not references: both would resolve to pages that don't exist. */
function isReference(written: string, { origin }: LinkBase): boolean {
  if (/^[/?.]/.test(written)) return true;
  if (/\s/.test(written)) return false;
  const [first = ''] = written.split(/[/?#]/, 1);
  return !first.startsWith('www.') && first !== origin.slice(origin.indexOf('//') + 2);
}
