import { API_SETTINGS } from './api-settings.ts';
import {
  bytes,
  duration,
  headerValue,
  integer,
  list,
  nameServers,
  oneOf,
  optional,
  orAuto,
  orNone,
  privateHosts,
  proxies,
  sink,
  text,
  url,
} from './parsers.ts';
import { RUN_SETTINGS } from './run-settings.ts';
import { rabbitMqUrl, redisUrl, serverHost } from './server-parsers.ts';
import { type Setting, setting } from './setting.ts';
import { TLS_SETTINGS } from './tls-settings.ts';
import { certificateFile, hosts } from './trust-parsers.ts';

/**
 * Every setting, once: name, parser, default, help. Flags, `.env.example`, `docs/configuration.md` and the error messages
 * follow from this table, and a test holds them to it.
 */
export const SETTINGS = {
  ...RUN_SETTINGS,
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
    'How long a host that has answered may fail before it is down (6h; crawl: 10min).',
  ),
  fetcher: setting(
    'fetch',
    'FETCHER',
    oneOf('got', 'undici'),
    'got',
    'What makes the requests: got, or undici, which takes less CPU time and speaks HTTP/2 where a server has it.',
  ),
  fetchTimeout: setting(
    'fetch',
    'FETCH_TIMEOUT',
    duration({ minMs: 100 }),
    '30s',
    'The longest that one request may take.',
  ),
  maxBody: setting(
    'fetch',
    'MAX_BODY',
    bytes(),
    '10MiB',
    'The largest body, after decompression: 10MiB (10 × 1024 × 1024 bytes), 10MB (10 000 000 bytes).',
  ),
  bodyMemory: setting(
    'fetch',
    'BODY_MEMORY',
    bytes(),
    '256MiB',
    'Memory for the bodies of pages, and for what joins get, in one process, at most a quarter of what it may have beyond 160 MiB; when it is used up, reading waits.',
  ),
  maxRedirects: setting(
    'fetch',
    'MAX_REDIRECTS',
    integer({ min: 0, max: 50 }),
    '10',
    'Redirects followed for one page.',
  ),
  robots: setting(
    'fetch',
    'ROBOTS',
    oneOf('obey', 'ignore'),
    'obey',
    'The rules of robots.txt: obey them, or ignore them on a site of your own.',
  ),
  userAgent: setting(
    'fetch',
    'USER_AGENT',
    optional(headerValue()),
    '',
    'User-Agent header (TrawlBot/<version> (+CONTACT_URL)).',
  ),
  contactUrl: setting(
    'fetch',
    'CONTACT_URL',
    optional(url('http', 'https', 'mailto')),
    '',
    'Where a site owner finds out who crawls: https://…, or mailto:…; part of the User-Agent.',
  ),
  privateHosts: setting(
    'fetch',
    'PRIVATE_HOSTS',
    privateHosts(),
    '',
    'Private addresses that may be fetched: CIDRs, addresses or host names, comma-separated.',
  ),
  caFile: setting(
    'fetch',
    'CA_FILE',
    certificateFile(),
    '',
    "A file of certificates (PEM) whose issuers sites may have, besides the system's.",
  ),
  insecure: setting(
    'fetch',
    'INSECURE',
    hosts(),
    '',
    'Hosts whose certificates are not checked, comma-separated: anybody in between can read and change what they send.',
  ),
  dnsServers: setting(
    'fetch',
    'DNS_SERVERS',
    nameServers(),
    '',
    "Name servers that are asked, and no others: 192.0.2.53, 192.0.2.53:5353, comma-separated (the system's).",
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
  cacheTtl: setting(
    'fetch',
    'CACHE_TTL',
    optional(orNone(duration())),
    '',
    'How long a response is kept for other runs that crawl their URLs anew (--fresh), or none (60s; crawl: none).',
  ),
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
    orAuto(integer({ min: 1, max: 2_048 })),
    'auto',
    'Pages fetched at once by one process; auto: as many as its time and memory allow, up to 1024 (2048 with undici). Prefetch is a quarter above it.',
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
    optional(rabbitMqUrl()),
    '',
    'RabbitMQ, as one URL; wins over the parts.',
    {
      secret: true,
    },
  ),
  rabbitmqHost: setting('fleet', 'RABBITMQ_HOST', serverHost(), 'localhost', 'RabbitMQ: host.'),
  rabbitmqPort: setting('fleet', 'RABBITMQ_PORT', integer({ min: 1, max: 65_535 }), '5672', 'RabbitMQ: AMQP port.'),
  rabbitmqUser: setting('fleet', 'RABBITMQ_USER', text(), 'guest', 'RabbitMQ: user.'),
  rabbitmqPassword: setting('fleet', 'RABBITMQ_PASSWORD', text(), 'guest', 'RabbitMQ: password.', { secret: true }),
  rabbitmqVhost: setting('fleet', 'RABBITMQ_VHOST', text(), '/', 'RabbitMQ: virtual host.'),
  redisUrl: setting('fleet', 'REDIS_URL', optional(redisUrl()), '', 'Redis, as one URL; wins over the parts.', {
    secret: true,
  }),
  redisHost: setting('fleet', 'REDIS_HOST', serverHost(), 'localhost', 'Redis: host.'),
  redisPort: setting('fleet', 'REDIS_PORT', integer({ min: 1, max: 65_535 }), '6379', 'Redis: port.'),
  redisUser: setting('fleet', 'REDIS_USER', text(), '', 'Redis: user, if it has any.'),
  redisPassword: setting('fleet', 'REDIS_PASSWORD', text(), '', 'Redis: password, if it needs one.', { secret: true }),
  redisDb: setting('fleet', 'REDIS_DB', integer({ min: 0, max: 2_147_483_647 }), '0', 'Redis: number of the database.'),
  cacheRedisUrl: setting(
    'fleet',
    'CACHE_REDIS_URL',
    optional(redisUrl()),
    '',
    'Another Redis for the response cache; it may evict keys, and workers continue without it.',
    { secret: true },
  ),
  ...TLS_SETTINGS,
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
    'Tasks out of the frontier at once, at most (1000, or 4 per live worker slot if that is more).',
  ),
  runRetention: setting(
    'fleet',
    'RUN_RETENTION',
    duration({ minMs: 1_000 }),
    '7d',
    'How long Redis remembers a run that ended.',
  ),
  seeds: setting('fleet', 'SEEDS', list(), '', 'Seeds for produce without arguments, comma-separated.'),

  metricsPort: setting(
    'metrics',
    'METRICS_PORT',
    optional(integer({ min: 0, max: 65_535 })),
    '',
    'Port for metrics in the format of Prometheus, at /metrics; 0: any that is free (no metrics).',
  ),
  metricsHost: setting(
    'metrics',
    'METRICS_HOST',
    text(),
    '127.0.0.1',
    'Address that metrics are served on; 0.0.0.0: every one of this machine.',
  ),

  outputDir: setting('output', 'OUTPUT_DIR', text(), './output', 'Records go to <run>/ under here.'),
  sink: setting(
    'output',
    'SINK',
    sink(),
    'jsonl',
    'Where records go: jsonl, files in OUTPUT_DIR; or postgres://user:password@host/database.',
    { secret: true },
  ),

  ...API_SETTINGS,

  logLevel: setting(
    'log',
    'LOG_LEVEL',
    optional(oneOf('silent', 'error', 'warn', 'info', 'debug')),
    '',
    'error, warn, info, debug or silent (warn; work, api: info; try, url: error; doctor: silent).',
  ),
  logFormat: setting(
    'log',
    'LOG_FORMAT',
    oneOf('pretty', 'json'),
    'pretty',
    'pretty, a line for people, or json, a document a line; the images set json.',
  ),
} as const satisfies Record<string, Setting<unknown>>;

/** The values of all settings. */
export type Settings = {
  readonly [K in keyof typeof SETTINGS]: (typeof SETTINGS)[K] extends Setting<infer T> ? T : never;
};
export type SettingKey = keyof typeof SETTINGS;
