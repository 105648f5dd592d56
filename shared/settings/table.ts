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
import { queuePrefix, rabbitMqUrl, redisUrl, serverHost } from './server-parsers.ts';
import { type Setting, setting } from './setting.ts';
import { TLS_SETTINGS } from './tls-settings.ts';
import { certificateFile, hosts } from './trust-parsers.ts';

/**
 * All settings, one row each: name, parser, default, help. Flags, error messages, `.env.example` and the table in
 * `docs/configuration.md` are made from this table; a test compares the two files with it.
 */
export const SETTINGS = {
  ...RUN_SETTINGS,
  hostConcurrency: setting(
    'fetch',
    'HOST_CONCURRENCY',
    orNone(integer({ min: 1, max: 10_000 })),
    '2',
    'Maximum requests open to one host at once, fleet-wide; none for no limit.',
  ),
  hostGiveUp: setting(
    'fetch',
    'HOST_GIVE_UP',
    optional(duration({ minMs: 1_000 })),
    '',
    'Time until a host that has answered, but now only fails, is given up (6h; crawl: 10min).',
  ),
  fetcher: setting(
    'fetch',
    'FETCHER',
    oneOf('got', 'undici'),
    'got',
    'HTTP client: got, or undici, which takes less CPU time and speaks HTTP/2 where the server does.',
  ),
  fetchTimeout: setting('fetch', 'FETCH_TIMEOUT', duration({ minMs: 100 }), '30s', 'Time limit for one request.'),
  maxBody: setting(
    'fetch',
    'MAX_BODY',
    bytes(),
    '10MiB',
    'Largest body accepted, after decompression: 10MiB (10 × 1024 × 1024 bytes), 10MB (10 000 000 bytes).',
  ),
  bodyMemory: setting(
    'fetch',
    'BODY_MEMORY',
    bytes(),
    '256MiB',
    'Memory of one process for page bodies and the inputs of joins, at most a quarter of its memory limit above 160 MiB; once it is used up, reading waits.',
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
    'Obey robots.txt, or ignore it on a site of your own.',
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
    'Contact for site owners (https://… or mailto:…), part of the User-Agent.',
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
    "File of certificates (PEM) to trust as issuers for sites, besides the system's.",
  ),
  insecure: setting(
    'fetch',
    'INSECURE',
    hosts(),
    '',
    'Hosts whose certificates are not checked, comma-separated; anyone in between can read and change what they send.',
  ),
  dnsServers: setting(
    'fetch',
    'DNS_SERVERS',
    nameServers(),
    '',
    "The only name servers to ask, comma-separated: 192.0.2.53, 192.0.2.53:5353 (the system's).",
  ),
  proxies: setting(
    'fetch',
    'PROXY_URL',
    proxies(),
    '',
    'Proxies to use in turn, comma-separated: http://user:password@host:port, https://…, socks5://…; or none.',
    { secret: true },
  ),
  hostHeaders: setting(
    'fetch',
    'HOST_HEADERS',
    text(),
    '',
    'JSON file of headers and cookies for particular hosts: {"example.com": {"authorization": "Bearer …"}}.',
  ),
  cacheTtl: setting(
    'fetch',
    'CACHE_TTL',
    optional(orNone(duration())),
    '',
    'How long a response is cached for other runs that fetch the URL again (--fresh), or none (60s; crawl: none).',
  ),
  cacheMaxMb: setting(
    'fetch',
    'CACHE_MAX_MB',
    integer({ min: 1, max: 1_000_000 }),
    '256',
    'Maximum megabytes of responses cached per minute; for crawl, kept at one time.',
  ),

  workerConcurrency: setting(
    'worker',
    'WORKER_CONCURRENCY',
    orAuto(integer({ min: 1, max: 2_048 })),
    'auto',
    'Pages fetched at once by one process; auto: as many as its CPU time and memory allow, up to 1024 (2048 with undici). Prefetch is a quarter more.',
  ),
  stepTimeout: setting(
    'worker',
    'STEP_TIMEOUT',
    duration({ minMs: 100 }),
    '30s',
    'Time limit for a step of the crawler on one page. A process still stuck 10 s later is ended.',
  ),

  priorityAck: setting(
    'worker',
    'PRIORITY_ACK',
    oneOf('manual', 'auto'),
    'manual',
    'auto: deliveries of the priority queue are not acked, which is faster; after a crash they come back a minute later.',
  ),

  rabbitmqUrl: setting(
    'fleet',
    'RABBITMQ_URL',
    optional(rabbitMqUrl()),
    '',
    'RabbitMQ as one URL; wins over the separate parts.',
    {
      secret: true,
    },
  ),
  rabbitmqHost: setting('fleet', 'RABBITMQ_HOST', serverHost(), 'localhost', 'RabbitMQ: host.'),
  rabbitmqPort: setting('fleet', 'RABBITMQ_PORT', integer({ min: 1, max: 65_535 }), '5672', 'RabbitMQ: AMQP port.'),
  rabbitmqUser: setting('fleet', 'RABBITMQ_USER', text(), 'guest', 'RabbitMQ: user.'),
  rabbitmqPassword: setting('fleet', 'RABBITMQ_PASSWORD', text(), 'guest', 'RabbitMQ: password.', { secret: true }),
  rabbitmqVhost: setting('fleet', 'RABBITMQ_VHOST', text(), '/', 'RabbitMQ: virtual host.'),
  redisUrl: setting('fleet', 'REDIS_URL', optional(redisUrl()), '', 'Redis as one URL; wins over the separate parts.', {
    secret: true,
  }),
  redisHost: setting('fleet', 'REDIS_HOST', serverHost(), 'localhost', 'Redis: host.'),
  redisPort: setting('fleet', 'REDIS_PORT', integer({ min: 1, max: 65_535 }), '6379', 'Redis: port.'),
  redisUser: setting('fleet', 'REDIS_USER', text(), '', 'Redis: user, if any.'),
  redisPassword: setting('fleet', 'REDIS_PASSWORD', text(), '', 'Redis: password, if any.', { secret: true }),
  redisDb: setting('fleet', 'REDIS_DB', integer({ min: 0, max: 2_147_483_647 }), '0', 'Redis: database number.'),
  cacheRedisUrl: setting(
    'fleet',
    'CACHE_REDIS_URL',
    optional(redisUrl()),
    '',
    'Another Redis for the response cache; it may evict keys, and workers continue without it.',
    { secret: true },
  ),
  ...TLS_SETTINGS,
  keyPrefix: setting('fleet', 'KEY_PREFIX', text(), '', 'Prefix of every Redis key; needs a QUEUE_PREFIX too.'),
  queuePrefix: setting('fleet', 'QUEUE_PREFIX', queuePrefix(), '', 'Prefix of every exchange and queue name.'),
  queueType: setting(
    'fleet',
    'QUEUE_TYPE',
    oneOf('quorum', 'classic'),
    'quorum',
    'Type of the three queues; classic suits a small single RabbitMQ. The same in all processes.',
  ),
  dedup: setting(
    'fleet',
    'DEDUP',
    oneOf('exact', 'compact'),
    'exact',
    'How known URLs are kept in Redis: exact, in full; or compact, as 64-bit digests. The same in all processes.',
  ),
  releaseWindow: setting(
    'fleet',
    'RELEASE_WINDOW',
    optional(integer({ min: 1, max: 1_000_000 })),
    '',
    'Maximum tasks out of the frontier at once (1000, or 4 per live worker slot if that is more).',
  ),
  runRetention: setting(
    'fleet',
    'RUN_RETENTION',
    duration({ minMs: 1_000 }),
    '7d',
    'How long Redis remembers a run after it ends.',
  ),
  seeds: setting('fleet', 'SEEDS', list(), '', 'Seeds for produce when it has no arguments, comma-separated.'),

  metricsPort: setting(
    'metrics',
    'METRICS_PORT',
    optional(integer({ min: 0, max: 65_535 })),
    '',
    'Port for Prometheus metrics, served at /metrics; 0: any free port (no metrics).',
  ),
  metricsHost: setting(
    'metrics',
    'METRICS_HOST',
    text(),
    '127.0.0.1',
    'Address to serve metrics on; 0.0.0.0: all addresses of this machine.',
  ),

  outputDir: setting('output', 'OUTPUT_DIR', text(), './output', 'Folder in which each run writes <run>/.'),
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
    'Log level: error, warn, info, debug or silent (warn; work, api: info; try, url: error; doctor: silent).',
  ),
  logFormat: setting(
    'log',
    'LOG_FORMAT',
    oneOf('pretty', 'json'),
    'pretty',
    'pretty: lines for people; json: one JSON object per line. The images set json.',
  ),
} as const satisfies Record<string, Setting<unknown>>;

/** The values of all settings. */
export type Settings = {
  readonly [K in keyof typeof SETTINGS]: (typeof SETTINGS)[K] extends Setting<infer T> ? T : never;
};
export type SettingKey = keyof typeof SETTINGS;
