import { counted } from '../../shared/control/format.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { SitemapReader } from '../producer/sitemaps/sitemap-reader.ts';

/** Logs how many pages of sitemaps were left out, and why. @param since epoch milliseconds before which pages are too old */
export function tellLeftOut(
  { older: { pages, sitemaps }, unwanted }: Pick<SitemapReader, 'older' | 'unwanted'>,
  since: number | undefined,
  log: Logger,
): void {
  if (unwanted > 0) log.warn({ what: counted(unwanted, 'page') }, 'left out of sitemaps by --include and --exclude:');
  if (since === undefined || pages + sitemaps === 0) return;
  const date = new Date(since).toISOString().replace('T00:00:00.000Z', '');
  const what = `${counted(pages, 'page')}, and ${counted(sitemaps, 'unread sitemap')}`;
  log.warn({ what }, `left out, since their lastmod is older than ${date}:`);
}
