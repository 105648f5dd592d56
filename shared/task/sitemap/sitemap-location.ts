import { MAX_BASE_LENGTH } from '../task/page-limits.ts';
import { type LinkBase, linkBase, resolveLink, withoutCredentials } from '../url/url.ts';

/**
 * What relative locations are resolved against: the URL of a document, or an `xml:base` (https://www.w3.org/TR/xmlbase/).
 * Credentials of the document are not handed down. Nothing, if it can't be a base: then the one around it holds.
 *
 * @param outer what a relative base is itself resolved against
 */
export function locationBase(written: string, outer?: LinkBase): LinkBase | undefined {
  const url = URL.parse(written.trim(), outer?.href);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return undefined;
  const href = withoutCredentials(url.href);
  // Each short location would become as long as a longer one.
  return href.length > MAX_BASE_LENGTH ? undefined : linkBase(href);
}

/**
 * A location of a sitemap or feed, absolute. One that can't be resolved stays as it was written, and is then found to be
 * malformed.
 */
export function resolveLocation(written: string, base: LinkBase | undefined): string {
  if (base === undefined || HAS_SCHEME.test(written) || !isReference(written, base)) return written;
  return resolveLink(written, base) ?? written;
}

const HAS_SCHEME = /^[a-z][a-z0-9+.-]*:/i;

/** Prose is no reference, and neither is a URL whose scheme was forgotten: both would resolve to a page that doesn't exist. */
function isReference(written: string, { origin }: LinkBase): boolean {
  if (/^[/?.]/.test(written)) return true;
  if (/\s/.test(written)) return false;
  const [first = ''] = written.split(/[/?#]/, 1);
  return !first.startsWith('www.') && first !== origin.slice(origin.indexOf('//') + 2);
}
