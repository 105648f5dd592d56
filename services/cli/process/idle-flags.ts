import type { Crawler } from '../../../shared/crawler/crawler.ts';
import { SETTINGS } from '../../../shared/settings/table.ts';
import type { Seed } from '../../producer/seeds.ts';
import type { Context } from '../command.ts';

/** Settings that only limit which links are followed. */
const OF_LINKS = ['scope', 'maxDepth', 'maxPages', 'maxHostsPerDomain'] as const;
/** Settings that also limit which pages are taken from sitemaps. */
const OF_SITEMAPS = ['include', 'exclude'] as const;

/** Warns of flags that have no effect because no links are followed. Users may think that they limit the seeds. */
export function warnOfIdleFlags(
  { pageFunction }: Pick<Crawler, 'pageFunction'>,
  seeds: readonly Seed[],
  { settings, flags, log }: Pick<Context, 'settings' | 'flags' | 'log'>,
): void {
  // Steps follow links without --follow.
  if (settings.follow || pageFunction === undefined) return;
  const hasSitemaps = seeds.some(({ kind }) => kind === 'site' || kind === 'robots' || kind === 'maybe_sitemap');
  const keys = [...OF_LINKS, ...(hasSitemaps ? [] : OF_SITEMAPS)];
  const idle = keys.map((key) => SETTINGS[key]).filter(({ name }) => flags[name] !== undefined);
  if (idle.length === 0) return;
  const what = idle.map(({ flag }) => `--${flag}`).join(', ');
  log.warn(
    { what },
    'without --follow no links are followed, and all seeds are crawled (--limit bounds them); without effect:',
  );
}
