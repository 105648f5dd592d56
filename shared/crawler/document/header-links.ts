import LinkHeader from 'http-link-header';
import { MAX_LINK_LENGTH } from '../../task/task/page-limits.ts';
import { escapedBytes } from '../../task/url/header-url.ts';
import { type LinkBase, resolveLink } from '../../task/url/url.ts';
import { linkWritten } from '../link-written.ts';
import { baseOfUrl } from '../tools/page-tools.ts';
import { refreshTarget } from './meta-refresh.ts';

/** What the headers of an answer say of links, as a page says it in its head. Absolute URLs. */
export interface HeaderLinks {
  readonly canonical: string | undefined;
  readonly next: readonly string[];
  readonly refresh: string | undefined;
}

const NO_LINKS: HeaderLinks = { canonical: undefined, next: [], refresh: undefined };

/**
 * Reads `Link` (RFC 8288), whose links are the page's own unless they have an `anchor`, and `Refresh`, which browsers read as a
 * `<meta http-equiv=refresh>`. What can't be read is as if it weren't there.
 *
 * @param url of the answer, which they are relative to: a page's `<base>` is not for its headers (RFC 8288, section 3.1)
 */
export function headerLinks({ link, refresh }: Readonly<Record<string, string>>, url: string): HeaderLinks {
  if (link === undefined && refresh === undefined) return NO_LINKS;
  const base = baseOfUrl(url);
  const refs = link === undefined ? [] : refsIn(link);
  const related = (rel: string): string[] =>
    refs.flatMap((ref) => (ref.rel.toLowerCase() === rel ? (absolute(ref.uri, base) ?? []) : []));
  const sentTo = refresh === undefined ? undefined : absolute(refreshTarget(refresh), base);
  return {
    canonical: related('canonical')[0],
    next: [...new Set(related('next'))],
    // A page that only loads itself again leads nowhere.
    refresh: sentTo === base.href ? undefined : sentTo,
  };
}

/** Links that say what they are, and are the page's own. */
function refsIn(link: string): readonly LinkHeader.Reference[] {
  const isUsable = ({ rel, anchor }: Partial<LinkHeader.Reference>) => rel !== undefined && anchor === undefined;
  try {
    return LinkHeader.parse(link).refs.filter(isUsable);
  } catch {
    return [];
  }
}

function absolute(written: string | undefined, base: LinkBase): string | undefined {
  const href = written === undefined ? undefined : linkWritten(escapedBytes(written));
  const url = href === undefined ? undefined : resolveLink(href, base);
  return url === undefined || url.length > MAX_LINK_LENGTH ? undefined : url;
}
