import { MAX_LINK_LENGTH } from '../../task/task/page-limits.ts';
import { escapedBytes } from '../../task/url/header-url.ts';
import { type LinkBase, resolveLink } from '../../task/url/url.ts';
import { hasWord, linkWritten } from '../link-written.ts';
import { baseOfUrl } from '../tools/page-tools.ts';
import { linksOf } from './link-header.ts';
import { refreshTarget } from './meta-refresh.ts';

/** The links in an answer's headers, which mean the same as those in a page's head. Absolute URLs. */
export interface HeaderLinks {
  readonly canonical: string | undefined;
  readonly next: readonly string[];
  readonly refresh: string | undefined;
}

const NO_LINKS: HeaderLinks = { canonical: undefined, next: [], refresh: undefined };

/**
 * Reads `Link` (RFC 8288), whose links are the page's own unless they have an `anchor`, and `Refresh`, which browsers treat like
 * `<meta http-equiv=refresh>`. Ignores headers that can't be parsed.
 *
 * @param url the answer's URL, the base of the links: a page's `<base>` doesn't apply to its headers (RFC 8288, section 3.1)
 */
export function headerLinks({ link, refresh }: Readonly<Record<string, string>>, url: string): HeaderLinks {
  if (link === undefined && refresh === undefined) return NO_LINKS;
  const base = baseOfUrl(url);
  const own = link === undefined ? [] : linksOf(link).filter(({ hasAnchor }) => !hasAnchor);
  const related = (rel: string): string[] =>
    own.flatMap((each) => (hasWord(each.rel, rel) ? (absolute(each.uri, base) ?? []) : []));
  const sentTo = refresh === undefined ? undefined : absolute(refreshTarget(refresh), base);
  return {
    canonical: related('canonical')[0],
    next: [...new Set(related('next'))],
    // A page that only reloads itself leads nowhere.
    refresh: sentTo === base.href ? undefined : sentTo,
  };
}

function absolute(written: string | undefined, base: LinkBase): string | undefined {
  const href = written === undefined ? undefined : linkWritten(escapedBytes(written));
  const url = href === undefined ? undefined : resolveLink(href, base);
  return url === undefined || url.length > MAX_LINK_LENGTH ? undefined : url;
}
