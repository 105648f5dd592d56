import { SCOPES } from '../task/url/scope.ts';
import { URL_KEY_RULES } from '../task/url/url-key.ts';
import { duration, integer, list, moment, oneOf, optional, rate, someOf, text, urlPatterns, yesNo } from './parsers.ts';
import { setting } from './setting.ts';

/** The settings of a run, fixed when it opens. */
export const RUN_SETTINGS = {
  rate: setting('run', 'RATE_LIMIT', rate(), '60/min', 'Requests to a host: 2/s, 60/min, 100/h, none.', {
    flag: 'rate',
  }),
  maxAttempts: setting(
    'run',
    'MAX_ATTEMPTS',
    integer({ min: 1, max: 100 }),
    '3',
    'Attempts before a page is given up.',
  ),
  follow: setting('run', 'FOLLOW', yesNo(), 'false', 'Follow the links of pages.'),
  maxDepth: setting(
    'run',
    'MAX_DEPTH',
    optional(integer({ min: 0, max: 1_000 })),
    '',
    'Links followed from a seed (3; rel=next adds none).',
  ),
  scope: setting(
    'run',
    'SCOPE',
    oneOf(...SCOPES),
    'host',
    "Links followed: to the seed's host, domain (subdomains too), or folder (path).",
  ),
  include: setting('run', 'INCLUDE', urlPatterns(), '', 'Links followed: /news/*, *.html, comma-separated.'),
  exclude: setting('run', 'EXCLUDE', urlPatterns(), '', 'Links not followed: /login*, *sort=*.'),
  maxPages: setting(
    'run',
    'MAX_PAGES',
    integer({ min: 1, max: 1_000_000_000 }),
    '100000',
    'Pages after which no more links are followed.',
  ),
  maxHostsPerDomain: setting(
    'run',
    'MAX_HOSTS_PER_DOMAIN',
    integer({ min: 1, max: 1_000_000_000 }),
    '1000',
    'With scope domain: hosts of one domain that links are followed to; some domains answer for any name.',
  ),
  content: setting(
    'run',
    'CONTENT',
    oneOf('none', 'text', 'markdown', 'article', 'html'),
    'none',
    'What a record keeps of the body: none, text, markdown, article (its main content, as markdown) or html.',
  ),
  incremental: setting(
    'run',
    'INCREMENTAL',
    yesNo(),
    'false',
    'Remember pages, and fetch what has changed: by sitemap lastmod, ETag, Last-Modified (crawl: in OUTPUT_DIR/trawl.sqlite).',
  ),
  recrawlAfter: setting(
    'run',
    'RECRAWL_AFTER',
    optional(duration({ minMs: 1_000 })),
    '',
    'Incremental, and how long after their last fetch pages are due again (7d, say); sooner if their sitemap says so.',
  ),
  crawler: setting('run', 'CRAWLER', text(), 'page', 'The crawler: its name, or a path.'),
  crawlersDir: setting(
    'run',
    'CRAWLERS_DIR',
    list(),
    'crawlers',
    'Folders of crawlers, comma-separated, before those of Trawl.',
  ),
  urlKey: setting(
    'run',
    'URL_KEY',
    someOf(...URL_KEY_RULES),
    'none',
    `Differences between URLs of one page, comma-separated: ${URL_KEY_RULES.join(', ')}.`,
  ),
  lastmodSince: setting(
    'run',
    'LASTMOD_SINCE',
    optional(moment()),
    '',
    'Leave out what sitemaps say was last changed before this: 2026-11-01, or 7d for the last week.',
  ),
  routes: setting('run', 'ROUTES', text(), '', 'A JSON file of routing rules in place of the built-in ones.'),
} as const;
