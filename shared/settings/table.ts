import { SCOPES } from '../task/url/scope.ts';
import { URL_KEY_RULES } from '../task/url/url-key.ts';
import {
  bytes,
  duration,
  integer,
  list,
  moment,
  oneOf,
  optional,
  orNone,
  type Parser,
  privateHosts,
  proxies,
  rate,
  sink,
  someOf,
  text,
  url,
  urlPatterns,
  yesNo,
} from './parsers.ts';

/** What a setting is about: a command shows the groups that it uses. */
export type SettingGroup = 'run' | 'fetch' | 'worker' | 'fleet' | 'output' | 'log';

/** One row of {@link SETTINGS}. */
export interface Setting<T> {
  /** The environment variable. */
  readonly name: string;
  /** The flag, without its dashes. */
  readonly flag: string;
  readonly group: SettingGroup;
  readonly parse: Parser<T>;
  /** As one would write it; empty where nothing is the default. */
  readonly default: string;
  readonly help: string;
  /** Never shown. */
  readonly secret: boolean;
}

interface Extra {
  readonly flag?: string;
  readonly secret?: boolean;
}

function setting<T>(
  group: SettingGroup,
  name: string,
  parse: Parser<T>,
  fallback: string,
  help: string,
  { flag = name.toLowerCase().replaceAll('_', '-'), secret = false }: Extra = {},
): Setting<T> {
  return { name, flag, group, parse, default: fallback, help, secret };
}

/**
 * Every setting, once: name, parser, default, help. Flags, `.env.example`, `docs/configuration.md` and the error messages
 * follow from this table, and a test holds them to it.
 */
export const SETTINGS = {
  rate: setting('run', 'RATE_LIMIT', rate(), '60/min', 'Requests to one host: 2/s, 60/min, 100/h, or none.', {
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
  maxDepth: setting('run', 'MAX_DEPTH', integer({ min: 0, max: 1_000 }), '3', 'Links followed from a seed, at most.'),
  scope: setting(
    'run',
    'SCOPE',
    oneOf(...SCOPES),
    'host',
    "Where links are followed to: the seed's host, its domain with all subdomains, or the folder (path) of the seed.",
  ),
  include: setting(
    'run',
    'INCLUDE',
    urlPatterns(),
    '',
    'Links that are followed, as patterns, comma-separated: /news/*, *.html. Seeds are always crawled.',
  ),
  exclude: setting('run', 'EXCLUDE', urlPatterns(), '', 'Links that are not: /login*, *sort=*.'),
  maxPages: setting(
    'run',
    'MAX_PAGES',
    integer({ min: 1, max: 1_000_000_000 }),
    '100000',
    'Pages of a run from which on no more links are followed. Seeds are always crawled.',
  ),
  maxHostsPerDomain: setting(
    'run',
    'MAX_HOSTS_PER_DOMAIN',
    integer({ min: 1, max: 1_000_000_000 }),
    '1000',
    'Hosts of one domain whose links a run follows, with scope domain: one that answers for any name has an end.',
  ),
  content: setting(
    'run',
    'CONTENT',
    oneOf('none', 'text', 'html'),
    'none',
    'What a record keeps of the body: none, text or html.',
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
    'Incremental, and pages are due again so long after their last fetch (7d, say); sooner if their sitemap says so.',
  ),
  crawler: setting('run', 'CRAWLER', text(), 'page', 'What to do with pages: a module of crawlers/, by its file name.'),
  urlKey: setting(
    'run',
    'URL_KEY',
    someOf(...URL_KEY_RULES),
    'none',
    `What takes different URLs for one page, comma-separated: ${URL_KEY_RULES.join(', ')}.`,
  ),
  lastmodSince: setting(
    'run',
    'LASTMOD_SINCE',
    optional(moment()),
    '',
    'Leaves out what sitemaps say was last changed before: 2026-11-01, or 7d for the last week.',
  ),
  routes: setting('run', 'ROUTES', text(), '', 'A JSON file of routing rules in place of the built-in ones.'),

  hostConcurrency: setting(
    'fetch',
    'HOST_CONCURRENCY',
    orNone(integer({ min: 1, max: 10_000 })),
    '2',
    'Open requests to one host at once, fleet-wide, or none for no limit.',
  ),
  hostGiveUp: setting(
    'fetch',
    'HOST_GIVE_UP',
    optional(duration({ minMs: 1_000 })),
    '',
    'A host that gives nothing but errors for so long is down (6h; crawl: 10min).',
  ),
  fetchTimeout: setting(
    'fetch',
    'FETCH_TIMEOUT',
    duration({ minMs: 100 }),
    '30s',
    'The longest that one request may take.',
  ),
  maxBody: setting('fetch', 'MAX_BODY', bytes(), '10MiB', 'The largest body, after decompression.'),
  maxRedirects: setting(
    'fetch',
    'MAX_REDIRECTS',
    integer({ min: 0, max: 50 }),
    '10',
    'Redirects followed for one page.',
  ),
  robots: setting('fetch', 'ROBOTS', oneOf('obey', 'ignore'), 'obey', 'What to do with the rules of robots.txt.'),
  userAgent: setting('fetch', 'USER_AGENT', text(), '', 'User-Agent header (TrawlBot/<version> (+CONTACT_URL)).'),
  contactUrl: setting(
    'fetch',
    'CONTACT_URL',
    optional(url('http', 'https', 'mailto')),
    '',
    'Where a site owner finds out who crawls; part of the User-Agent.',
  ),
  privateHosts: setting(
    'fetch',
    'PRIVATE_HOSTS',
    privateHosts(),
    '',
    'Private addresses that may be fetched: CIDRs, addresses or host names, comma-separated.',
  ),
  proxies: setting(
    'fetch',
    'PROXY_URL',
    proxies(),
    '',
    'Proxies in turn, comma-separated: http://user:password@host:port, https://…, socks5://…; or none.',
    { secret: true },
  ),
  hostHeaders: setting(
    'fetch',
    'HOST_HEADERS',
    text(),
    '',
    'A JSON file of headers and cookies for single hosts: {"example.com": {"authorization": "Bearer …"}}.',
  ),
  cacheTtl: setting('fetch', 'CACHE_TTL', orNone(duration()), '60s', 'How long a response is kept for reuse, or none.'),
  cacheMaxMb: setting(
    'fetch',
    'CACHE_MAX_MB',
    integer({ min: 1, max: 1_000_000 }),
    '256',
    'Megabytes of responses kept per minute.',
  ),

  workerConcurrency: setting(
    'worker',
    'WORKER_CONCURRENCY',
    integer({ min: 1, max: 512 }),
    '32',
    'Pages fetched at once by one process. Prefetch is a quarter above it.',
  ),
  stepTimeout: setting(
    'worker',
    'STEP_TIMEOUT',
    duration({ minMs: 100 }),
    '30s',
    'The longest that a crawler may take over one page. A process that is stuck for 10 s more is ended.',
  ),

  priorityAck: setting(
    'worker',
    'PRIORITY_ACK',
    oneOf('manual', 'auto'),
    'manual',
    'auto: deliveries of the priority queue are not acked, which is faster; a crash then costs them a minute.',
  ),

  rabbitmqUrl: setting(
    'fleet',
    'RABBITMQ_URL',
    optional(url('amqp', 'amqps')),
    '',
    'RabbitMQ, as one URL; wins over the parts.',
    {
      secret: true,
    },
  ),
  rabbitmqHost: setting('fleet', 'RABBITMQ_HOST', text(), 'localhost', 'RabbitMQ: host.'),
  rabbitmqPort: setting('fleet', 'RABBITMQ_PORT', integer({ min: 1, max: 65_535 }), '5672', 'RabbitMQ: AMQP port.'),
  rabbitmqUser: setting('fleet', 'RABBITMQ_USER', text(), 'guest', 'RabbitMQ: user.'),
  rabbitmqPassword: setting('fleet', 'RABBITMQ_PASSWORD', text(), 'guest', 'RabbitMQ: password.', { secret: true }),
  rabbitmqVhost: setting('fleet', 'RABBITMQ_VHOST', text(), '/', 'RabbitMQ: virtual host.'),
  redisUrl: setting(
    'fleet',
    'REDIS_URL',
    optional(url('redis', 'rediss')),
    '',
    'Redis, as one URL; wins over the parts.',
    {
      secret: true,
    },
  ),
  redisHost: setting('fleet', 'REDIS_HOST', text(), 'localhost', 'Redis: host.'),
  redisPort: setting('fleet', 'REDIS_PORT', integer({ min: 1, max: 65_535 }), '6379', 'Redis: port.'),
  redisUser: setting('fleet', 'REDIS_USER', text(), '', 'Redis: user, if it has any.'),
  redisPassword: setting('fleet', 'REDIS_PASSWORD', text(), '', 'Redis: password, if it wants one.', { secret: true }),
  redisDb: setting('fleet', 'REDIS_DB', integer({ min: 0, max: 15 }), '0', 'Redis: number of the database.'),
  cacheRedisUrl: setting(
    'fleet',
    'CACHE_REDIS_URL',
    optional(url('redis', 'rediss')),
    '',
    'Another Redis for the response cache; it may evict keys, and workers go on without it.',
    { secret: true },
  ),
  keyPrefix: setting('fleet', 'KEY_PREFIX', text(), '', 'In front of every Redis key. Needs a QUEUE_PREFIX too.'),
  queuePrefix: setting('fleet', 'QUEUE_PREFIX', text(), '', 'In front of every exchange and queue name.'),
  queueType: setting(
    'fleet',
    'QUEUE_TYPE',
    oneOf('quorum', 'classic'),
    'quorum',
    'Kind of the three queues; classic suits a small single RabbitMQ. All processes alike.',
  ),
  dedup: setting(
    'fleet',
    'DEDUP',
    oneOf('exact', 'compact'),
    'exact',
    'How known URLs are kept in Redis: exact, as they are; or compact, as 64-bit digests. All processes alike.',
  ),
  releaseWindow: setting(
    'fleet',
    'RELEASE_WINDOW',
    optional(integer({ min: 1, max: 1_000_000 })),
    '',
    'Tasks out of the frontier at once (1000, or 4 per live worker slot if that is more).',
  ),
  runRetention: setting(
    'fleet',
    'RUN_RETENTION',
    duration({ minMs: 1_000 }),
    '7d',
    'How long Redis remembers a run that ended.',
  ),
  seeds: setting('fleet', 'SEEDS', list(), '', 'Seeds for produce without arguments, comma-separated.'),

  outputDir: setting('output', 'OUTPUT_DIR', text(), './output', 'Records go to <run>/ under here.'),
  sink: setting(
    'output',
    'SINK',
    sink(),
    'jsonl',
    'Where records go: jsonl, files in OUTPUT_DIR; or postgres://user:password@host/database.',
    { secret: true },
  ),

  logLevel: setting(
    'log',
    'LOG_LEVEL',
    optional(oneOf('silent', 'error', 'warn', 'info', 'debug')),
    '',
    'silent, error, warn, info or debug (work: info; else warn).',
  ),
  logFormat: setting(
    'log',
    'LOG_FORMAT',
    optional(oneOf('pretty', 'json')),
    '',
    'pretty or json (pretty on a terminal, else json).',
  ),
} as const satisfies Record<string, Setting<unknown>>;

/** The values of all settings. */
export type Settings = {
  readonly [K in keyof typeof SETTINGS]: (typeof SETTINGS)[K] extends Setting<infer T> ? T : never;
};
export type SettingKey = keyof typeof SETTINGS;
