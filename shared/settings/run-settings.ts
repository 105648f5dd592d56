import { SCOPES } from '../task/url/scope.ts';
import { URL_KEY_RULES } from '../task/url/url-key.ts';
import { duration, integer, list, moment, oneOf, optional, rate, someOf, text, urlPatterns, yesNo } from './parsers.ts';
import { setting } from './setting.ts';

/** The settings of a run. They are fixed when the run opens. */
export const RUN_SETTINGS = {
  rate: setting('run', 'RATE_LIMIT', rate(), '60/min', 'Requests per host: 2/s, 60/min, 100/h, none.', {
    flag: 'rate',
  }),
  maxAttempts: setting(
    'run',
    'MAX_ATTEMPTS',
    integer({ min: 1, max: 100 }),
    '3',
    'Attempts before a page is given up.',
  ),
  follow: setting('run', 'FOLLOW', yesNo(), 'false', 'Follow links in pages.'),
  maxDepth: setting(
    'run',
    'MAX_DEPTH',
    optional(integer({ min: 0, max: 1_000 })),
    '',
    'Maximum depth in links (3; rel=next adds none).',
  ),
  scope: setting(
    'run',
    'SCOPE',
    oneOf(...SCOPES),
    'host',
    "Where links may lead: the seed's host, its domain (subdomains too) or its folder (path).",
  ),
  include: setting('run', 'INCLUDE', urlPatterns(), '', 'Links and sitemap URLs to take: /news/*, *.html.'),
  exclude: setting('run', 'EXCLUDE', urlPatterns(), '', 'Links and sitemap URLs to leave out: /login*, *sort=*.'),
  maxPages: setting(
    'run',
    'MAX_PAGES',
    integer({ min: 1, max: 1_000_000_000 }),
    '100000',
    'Stop following links after this many pages.',
  ),
  maxHostsPerDomain: setting(
    'run',
    'MAX_HOSTS_PER_DOMAIN',
    integer({ min: 1, max: 1_000_000_000 }),
    '1000',
    'With scope domain: maximum hosts of one domain to follow links to; some domains answer for any name.',
  ),
  content: setting(
    'run',
    'CONTENT',
    oneOf('none', 'text', 'markdown', 'article', 'html'),
    'none',
    'Form in which a record keeps the body: none, text, markdown, article (its main content, as markdown) or html.',
  ),
  incremental: setting(
    'run',
    'INCREMENTAL',
    yesNo(),
    'false',
    'Remember pages and fetch only what has changed, by sitemap lastmod, ETag and Last-Modified (crawl: kept in OUTPUT_DIR/trawl.sqlite).',
  ),
  recrawlAfter: setting(
    'run',
    'RECRAWL_AFTER',
    optional(duration({ minMs: 1_000 })),
    '',
    'Turn on INCREMENTAL, and fetch pages again this long after their last fetch (7d, say), or sooner if their sitemap says so.',
  ),
  crawler: setting('run', 'CRAWLER', text(), 'page', 'The crawler: its name, or a path.'),
  crawlersDir: setting(
    'run',
    'CRAWLERS_DIR',
    list(),
    'crawlers',
    "Folders to look for crawlers in before Trawl's own, comma-separated.",
  ),
  urlKey: setting(
    'run',
    'URL_KEY',
    someOf(...URL_KEY_RULES),
    'none',
    `Differences between URLs to ignore, comma-separated: ${URL_KEY_RULES.join(', ')}.`,
  ),
  lastmodSince: setting(
    'run',
    'LASTMOD_SINCE',
    optional(moment()),
    '',
    'Leave out pages and sitemaps with a lastmod before this: 2026-11-01, or 7d for the last week.',
  ),
  routes: setting('run', 'ROUTES', text(), '', 'JSON file of routing rules that replace the built-in ones.'),
} as const;
