import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { configurationTable, envExample } from '../../../../scripts/settings-docs.ts';
import {
  OF_COMPOSE,
  rabbitmqUrlOf,
  redisUrlOf,
  userAgentOf,
  withoutServiceLinks,
} from '../../../../shared/settings/settings.ts';
import { SETTINGS } from '../../../../shared/settings/table.ts';
import { problemsOf, read } from './reading.ts';

test('.env.example and docs/configuration.md say what the table says (npm run docs writes them)', () => {
  expect(readFileSync('.env.example', 'utf8')).toBe(envExample());
  expect(readFileSync('docs/configuration.md', 'utf8')).toContain(configurationTable());
});

test('every setting has a name, a flag and a help of its own, and a default that it takes', () => {
  const settings = Object.values(SETTINGS);
  expect(new Set(settings.map(({ name }) => name)).size).toBe(settings.length);
  expect(new Set(settings.map(({ flag }) => flag)).size).toBe(settings.length);
  for (const { name, help, parse, default: fallback } of settings) {
    expect('value' in parse(fallback), `${name}=${fallback}`).toBe(true);
    expect(help, name).toMatch(/\.$/);
  }
});

test('the defaults', () => {
  expect(read({})).toMatchObject({
    rate: 1_000,
    hostConcurrency: 2,
    maxAttempts: 3,
    maxBody: 10 * 1024 ** 2,
    fetchTimeout: 30_000,
    workerConcurrency: 'auto',
    robots: 'obey',
    follow: false,
    runRetention: 7 * 86_400_000,
  });
  expect([rabbitmqUrlOf(read({})), redisUrlOf(read({}))]).toEqual([
    'amqp://guest:guest@localhost:5672',
    'redis://localhost:6379/0',
  ]);
});

test('every name that the Compose files read is known in .env', () => {
  const files = ['docker-compose.yml', 'docker-compose.monitoring.yml'];
  const names = files
    .map((file) => readFileSync(file, 'utf8'))
    .join('')
    .matchAll(/\$\{([A-Z_]+)/g);
  const known = [...Object.values(SETTINGS).map(({ name }) => name), ...OF_COMPOSE];
  expect(known).toEqual(expect.arrayContaining([...names].map(([, name]) => name)));
});

test('the variables that Kubernetes adds for services called redis, rabbitmq and api are not settings', () => {
  const environment = {
    REDIS_PORT: 'tcp://10.96.0.12:6379',
    REDIS_SERVICE_HOST: '10.96.0.12',
    RABBITMQ_PORT: 'tcp://[fd00::12]:5672',
    API_PORT: 'udp://10.96.0.13:80',
    METRICS_PORT: '9464',
  };
  expect(withoutServiceLinks(environment)).toEqual({ REDIS_SERVICE_HOST: '10.96.0.12', METRICS_PORT: '9464' });
  expect(read({ environment: withoutServiceLinks(environment) })).toMatchObject({
    redisPort: 6379,
    rabbitmqPort: 5672,
    apiPort: 8080,
    metricsPort: 9464,
  });
  expect(problemsOf({ file: { REDIS_PORT: 'tcp://10.96.0.12:6379' } })).toHaveLength(1);
});

// biome-ignore format: a table
test('hosts that are not checked are named without scheme, port or path', () => {
  expect(read({ flag: { INSECURE: 'Intranet.example, 192.0.2.7,[::1],' } }).insecure).toEqual([
    'intranet.example',
    '192.0.2.7',
    '::1',
  ]);
  for (const given of ['https://a.test', 'a.test:8443', 'a.test/x', '*', 'a b'])
    expect(problemsOf({ flag: { INSECURE: given } }), given).toEqual([
      expect.stringMatching(/^expected --insecure to be host names, comma-separated, /),
    ]);
});

test('host names of the API are written as browsers send them, and its proxies are addresses', () => {
  expect(read({ flag: { API_HOSTS: 'Trawl.Example.com, münchen.example' } }).apiHosts).toEqual([
    'trawl.example.com',
    'xn--mnchen-3ya.example',
  ]);
  expect(problemsOf({ flag: { API_HOSTS: 'trawl.example.com:8443' } })).toHaveLength(1);
  expect(read({ flag: { API_PROXIES: '127.0.0.1, ::1,172.16.0.0/12' } }).apiProxies).toEqual([
    '127.0.0.1',
    '::1',
    '172.16.0.0/12',
  ]);
  for (const given of ['proxy.example', '127.0.0.1:80', '10.0.0.0/40', 'true'])
    expect(problemsOf({ flag: { API_PROXIES: given } }), given).toEqual([
      expect.stringMatching(/^expected --api-proxies to be addresses or CIDRs, /),
    ]);
});

test('in Compose, .env sets the host names of the API', () => {
  const [, after = ''] = readFileSync('docker-compose.yml', 'utf8').split('\n  api:\n');
  const [api] = after.split('\n\n');
  expect(api).toMatch(/hostname: api\n/);
  expect(api).not.toContain('--api-hosts');
});

test('a file of certificates is read right away', () => {
  const certificate = join(import.meta.dirname, '../../../support/site/certificate.ts');
  expect(read({ flag: { CA_FILE: certificate } }).caFile).toHaveLength(1);
  expect(problemsOf({ flag: { CA_FILE: '/no/file' } })).toEqual([
    `expected --ca-file to be a file of certificates in PEM form (ENOENT: no such file or directory, open '/no/file'), got "/no/file"`,
  ]);
  expect(problemsOf({ flag: { CA_FILE: 'package.json' } })).toEqual([
    'expected --ca-file to be a file of certificates in PEM form (it has none), got "package.json"',
  ]);
});

test('flags override the environment, which overrides the file; an empty value is none', () => {
  const file = { RATE_LIMIT: '1/s', MAX_ATTEMPTS: '5', CONTENT: 'text' };
  const environment = { RATE_LIMIT: '2/s', MAX_ATTEMPTS: '' };
  const { rate, maxAttempts, content } = read({ flag: { RATE_LIMIT: '4/s' }, environment, file });
  expect([rate, maxAttempts, content]).toEqual([250, 5, 'text']);
});

test.each([
  // a URL beats a HOST of its own layer, a HOST of a higher layer beats a URL of a lower
  [{ environment: { RABBITMQ_URL: 'amqp://url', RABBITMQ_HOST: 'host' } }, 'amqp://url'],
  [{ flag: { RABBITMQ_HOST: 'host' }, environment: { RABBITMQ_URL: 'amqp://url' } }, 'amqp://guest:guest@host:5672'],
  [{ environment: { RABBITMQ_HOST: 'host' }, file: { RABBITMQ_URL: 'amqp://url' } }, 'amqp://guest:guest@host:5672'],
  [{ flag: { RABBITMQ_URL: 'amqp://url' }, environment: { RABBITMQ_HOST: 'host' } }, 'amqp://url'],
  [{ environment: { RABBITMQ_PASSWORD: 'p@ss', RABBITMQ_VHOST: 'a/b' } }, 'amqp://guest:p%40ss@localhost:5672/a%2Fb'],
])('%j leads to %s', (sources, url) => {
  expect(rabbitmqUrlOf(read(sources))).toBe(url);
});

test('Redis by its parts', () => {
  const environment = { REDIS_HOST: 'r', REDIS_PORT: '7000', REDIS_PASSWORD: 's:t', REDIS_DB: '3' };
  expect(redisUrlOf(read({ environment }))).toBe('redis://:s%3At@r:7000/3');
});

test('a user of Redis without a password, and a database beyond the usual sixteen', () => {
  const environment = { REDIS_USER: 'a:b', REDIS_DB: '63' };
  expect(redisUrlOf(read({ environment }))).toBe('redis://a%3Ab:@localhost:6379/63');
});

test.each([
  ['redis.internal', 'redis.internal'],
  ['10.0.0.1', '10.0.0.1'],
  ['::1', '[::1]'],
  ['[2001:db8::1]', '[2001:db8::1]'],
  ['redis_1', 'redis_1'],
])('a server at %s is %s in its URL', (given, host) => {
  const { rabbitmqHost, redisHost } = read({ environment: { RABBITMQ_HOST: given, REDIS_HOST: given } });
  expect([rabbitmqHost, redisHost]).toEqual([host, host]);
});

test.each(['10.0.0.1:6379', 'redis://10.0.0.1', 'a b', 'a/b', 'me@a', '[a]', 'fe80::1%eth0'])(
  'no server is at %s',
  (given) => {
    expect(problemsOf({ environment: { REDIS_HOST: given }, flag: { RABBITMQ_HOST: given } })).toEqual([
      `expected --rabbitmq-host to be a host name or an address: no scheme, no port, got "${given}"`,
      `expected REDIS_HOST to be a host name or an address: no scheme, no port, got "${given}"`,
    ]);
  },
);

const REDIS_URL = 'expected REDIS_URL to be a URL that begins with redis:// or rediss://';
const ONE_HOST = 'one host, whose name may have several addresses';
const SINK = 'expected SINK to be jsonl, or a URL that begins with postgres://';
const BROKER_URL = 'expected RABBITMQ_URL to be a URL that begins with amqp:// or amqps://';

// biome-ignore format: a table
test.each([
  [{ REDIS_URL: 'r:6379' },                REDIS_URL],
  [{ REDIS_URL: 'redis://r/three' },       `${REDIS_URL}, with only a database number as its path`],
  [{ REDIS_URL: 'redis:///run/r.sock' },   `${REDIS_URL}, with only a database number as its path`],
  [{ REDIS_URL: 'redis://r?db=three' },    `${REDIS_URL}, with only a database number as its path`],
  [{ REDIS_URL: 'redis://:se#same@r' },    `${REDIS_URL}, with / ? # @ in its login as %2F %3F %23 %40`],
  [{ REDIS_URL: 'redis://:sesame%zz@r' },  `${REDIS_URL}, with % in its login as %25`],
  [{ RABBITMQ_URL: 'amqp://jo:se/same@q' },   `${BROKER_URL}, with / ? # @ in its login as %2F %3F %23 %40`],
  [{ RABBITMQ_URL: 'amqp://jo:100%@q/v' }, `${BROKER_URL}, with % in its login as %25`],
  [{ REDIS_URL: 'redis://a:6379,b:6379/1' },        `${REDIS_URL}, with ${ONE_HOST}`],
  [{ REDIS_URL: 'rediss://jo:s@a,b' },              `${REDIS_URL}, with ${ONE_HOST}`],
  [{ RABBITMQ_URL: 'amqps://jo:s@a;amqps://jo:s@b' }, `${BROKER_URL}, with ${ONE_HOST}`],
  [{ RABBITMQ_URL: 'amqp://q?heartbeat=10s' },      `${BROKER_URL}, with a whole number as its heartbeat`],
  [{ RABBITMQ_URL: 'amqps://q?cacertfile=ca.pem' }, `${BROKER_URL}, without cacertfile: RABBITMQ_CA_FILE names that file`],
  [{ RABBITMQ_URL: 'amqps://q?keyfile=k' },         `${BROKER_URL}, without keyfile: RABBITMQ_KEY_FILE names that file`],
  [{ REDIS_URL: 'valkey://r/three' },      `${REDIS_URL}, with only a database number as its path`],
  [{ REDIS_URL: 'valkeyss://r' },          REDIS_URL],
  [{ REDIS_URL: 'rediss://r?ssl_ca_certs=ca.pem' }, `${REDIS_URL}, without ssl_ca_certs: REDIS_CA_FILE names that file`],
  [{ REDIS_URL: 'redis://r?tls=true' },    `${REDIS_URL}, without tls: rediss:// uses TLS`],
  [{ REDIS_URL: 'redis://r?keyPrefix=x' }, `${REDIS_URL}, without keyPrefix: KEY_PREFIX sets it`],
  [{ RABBITMQ_URL: 'amqp://q?frameMax=1024' },      `${BROKER_URL}, with at least 4096 as its frameMax`],
  [{ RABBITMQ_URL: 'amqp://q?maxFrameSize=4095' },  `${BROKER_URL}, with at least 4096 as its maxFrameSize`],
  [{ RABBITMQ_URL: 'amqp://q?auth_mechanism=x' },   `${BROKER_URL}, with plain or external as its auth_mechanism`],
  [{ SINK: 'postgres://jo:s@a:1,b:2/t' },           `${SINK}, with ${ONE_HOST}`],
  [{ SINK: 'postgres://jo:s@a,b/t' },               `${SINK}, with ${ONE_HOST}`],
  [{ SINK: 'postgresql://jo@db/t?schema=crawls' }, `${SINK}, without schema, which Postgres doesn't know: options=-csearch_path%3Dname`],
  [{ SINK: 'mysql://jo@db' },              SINK],
  [{ SINK: 'postgres://jo:se#same@db/t' }, `${SINK}, with / ? # @ in its login as %2F %3F %23 %40`],
])('%j is refused, and none of it told', (environment, said) => {
  expect(problemsOf({ environment })).toEqual([`${said}, got something else`]);
});

test.each(['redis://r', 'redis://r/', 'rediss://jo:s%25@r:7000/3', 'redis://r?db=3', 'redis://jo:a,b;c@r'])(
  '%s is taken',
  (url) => {
    expect(read({ environment: { REDIS_URL: url } }).redisUrl).toBe(url);
  },
);

test.each([
  ['valkey://jo:s@r:7000/3', 'redis://jo:s@r:7000/3'],
  ['valkeys://r?db=3', 'rediss://r?db=3'],
  ['redis://r/1?family=6&password=a%2Bb', 'redis://r/1?family=6&password=a%2Bb'],
  ['redis://r/1?maxRetriesPerRequest=3&family=6&lazyConnect=', 'redis://r/1?family=6'],
  ['rediss://jo:s%25@r?ssl_cert_reqs=none', 'rediss://jo:s%25@r'],
])('%s is read as %s', (given, url) => {
  const { redisUrl, cacheRedisUrl } = read({ environment: { REDIS_URL: given, CACHE_REDIS_URL: given } });
  expect([redisUrl, cacheRedisUrl]).toEqual([url, url]);
});

test('the default schema is accepted in the form that other programs write', () => {
  const url = 'postgresql://jo@db/t?schema=public';
  expect(read({ environment: { SINK: url } }).sink).toBe(url);
});

test('all problems are reported at once, with the expected and the given value, but no secret', () => {
  const problems = problemsOf({
    flag: { RATE_LIMIT: 'fast' },
    environment: {
      WORKER_CONCURRENCY: '0',
      FETCH_TIMEOUT: '30',
      RABBITMQ_URL: 'http://u:secret@h',
      PRIVATE_HOSTS: '10.0.0.0/40',
    },
    file: { KEY_PREFIX: 'mine:' },
  });
  expect(problems).toEqual([
    'expected --rate to be a rate like 2/s, 60/min or 100/h, from 0.01/h to 6000/min, or none, got "fast"',
    'expected FETCH_TIMEOUT to be a duration like 500ms, 30s, 10min, 6h or 7d, got "30"',
    expect.stringContaining('expected PRIVATE_HOSTS to be CIDRs, addresses or host names: "10.0.0.0/40"'),
    'expected WORKER_CONCURRENCY to be a whole number from 1 to 2048, or auto, got "0"',
    'expected RABBITMQ_URL to be a URL that begins with amqp:// or amqps://, got something else',
    "expected QUEUE_PREFIX to be set because KEY_PREFIX is: two fleets on one broker would take each other's deliveries",
  ]);
  expect(problems.join(' ')).not.toContain('secret');
});

test('the User-Agent names the program, its version and a contact', () => {
  expect(userAgentOf(read({}), '1.2.3')).toBe('TrawlBot/1.2.3');
  expect(userAgentOf(read({ flag: { CONTACT_URL: 'https://me.example/' } }), '1.2.3')).toBe(
    'TrawlBot/1.2.3 (+https://me.example/)',
  );
  expect(userAgentOf(read({ flag: { USER_AGENT: 'Mine/1' } }), '1.2.3')).toBe('Mine/1');
  expect(userAgentOf(read({ flag: { CONTACT_URL: 'https://日本.example/ü' } }), '1.2.3')).toBe(
    'TrawlBot/1.2.3 (+https://xn--wgv71a.example/%C3%BC)',
  );
});

test('the forms of a contact are listed as they are written', () => {
  expect(read({ flag: { CONTACT_URL: 'mailto:me@a.example' } }).contactUrl).toBe('mailto:me@a.example');
  expect(problemsOf({ environment: { CONTACT_URL: 'me@a.example' } })).toEqual([
    'expected CONTACT_URL to be a URL that begins with http:// or https:// or mailto:, got "me@a.example"',
  ]);
});

test.each(['Mine – the crawler', 'Mine/1\nX-Header: 1', 'Mine\u007f'])(
  'a User-Agent that no header can hold is refused: %j',
  (agent) => {
    expect(problemsOf({ environment: { USER_AGENT: agent } })).toEqual([
      expect.stringContaining('expected USER_AGENT to be a text of one line, without characters beyond U+00FF, got'),
    ]);
  },
);
