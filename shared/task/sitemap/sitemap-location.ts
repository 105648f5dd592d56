import { MAX_BASE_LENGTH } from '../task/page-limits.ts';
import { type LinkBase, linkBase, resolveLink, withoutCredentials } from '../url/url.ts';

/**
 * Returns the base for relative locations, from the URL of a document or an `xml:base` (https://www.w3.org/TR/xmlbase/).
 * The document's credentials are not passed on. Nothing if it can't be a base: the enclosing base then applies.
 *
 * @param outer the base against which a relative base is itself resolved
 */
export function locationBase(written: string, outer?: LinkBase): LinkBase | undefined {
  const url = URL.parse(written.trim(), outer?.href);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return undefined;
  const href = withoutCredentials(url.href);
  // A longer base would make every short location just as long.
  return href.length > MAX_BASE_LENGTH ? undefined : linkBase(href);
}

/**
 * Makes a location of a sitemap or feed absolute. If it can't be resolved it is returned as written, and later found to be
 * malformed.
 */
export function resolveLocation(written: string, base: LinkBase | undefined): string {
  if (base === undefined || HAS_SCHEME.test(written) || !isReference(written, base)) return written;
  return resolveLink(written, base) ?? written;
}

const HAS_SCHEME = /^[a-z][a-z0-9+.-]*:/i;

/** Is a text a relative reference? Prose, or a URL without its scheme, is not: it would resolve to a page that doesn't exist. */
function isReference(written: string, { origin }: LinkBase): boolean {
  if (/^[/?.]/.test(written)) return true;
  if (/\s/.test(written)) return false;
  const [first = ''] = written.split(/[/?#]/, 1);
  return !first.startsWith('www.') && first !== origin.slice(origin.indexOf('//') + 2);
}
