import { expect, onTestFinished, test, vi } from 'vitest';
import { SETTINGS } from '../../../../shared/settings/table.ts';
import { problemsOf, read } from './reading.ts';

test.each([
  ['500B', 500],
  ['500kB', 500_000],
  ['500KB', 500_000],
  ['500KiB', 512_000],
  ['10MB', 10_000_000],
  ['10MiB', 10_485_760],
  ['1 GB', 1_000_000_000],
  ['1GiB', 1_073_741_824],
])('a size of %s is %i bytes', (given, bytes) => {
  expect(read({ flag: { MAX_BODY: given } }).maxBody).toBe(bytes);
});

test.each(['10', '10iB', '10kiB', '1.5MB', '0MB', 'MB'])('a size of "%s" is refused', (given) => {
  expect(problemsOf({ flag: { MAX_BODY: given } })).toEqual([
    `expected --max-body to be a size like 10MiB (10 × 1024 × 1024 bytes) or 10MB (10 000 000 bytes), got "${given}"`,
  ]);
});

test.each([
  ['60/min', 1_000],
  ['1/s', 1_000],
  ['6000/min', 10],
  ['100/s', 10],
  ['100/h', 36_000],
  ['7/min', 8_572],
  ['0.5/s', 2_000],
  ['none', 0],
  ['0.01/h', 360_000_000],
  ['6001/min', undefined],
  ['0/s', undefined],
  // A moment so late was more than the database of a crawl gives back as a number.
  ['0.0000000001/h', undefined],
  ['60', undefined],
])('a rate of %s is one request every %s ms', (text, ms) => {
  const read = SETTINGS.rate.parse(text);
  expect('value' in read ? read.value : undefined).toBe(ms);
});

test.each([
  ['1500ms', 1_500],
  ['1.1h', 3_960_000],
  ['4.1min', 246_000],
  ['36500d', 3_153_600_000_000],
  ['30', 'a duration like 500ms, 30s, 10min, 6h or 7d'],
  ['99ms', 'a duration from 100ms to 36500d'],
  ['36501d', 'a duration from 100ms to 36500d'],
])('a time-out of %s is %s', (text, wanted) => {
  const read = SETTINGS.fetchTimeout.parse(text);
  expect('value' in read ? read.value : read.expected).toBe(wanted);
});

test.each([
  ['shop-', 'shop-'],
  ['my-amq.', 'my-amq.'],
  ['amq.', 'a text that does not begin with amq., which RabbitMQ keeps for itself'],
  ['amq.shop-', 'a text that does not begin with amq., which RabbitMQ keeps for itself'],
  ['é'.repeat(101), 'a text of at most 200 bytes'],
])('a prefix of queues %s is %s', (text, wanted) => {
  const read = SETTINGS.queuePrefix.parse(text);
  expect('value' in read ? read.value : read.expected).toBe(wanted);
});

test('proxies are read one by one, and named without their logins', () => {
  const given = 'http://jo:p%40ss@Proxy.test:3128, https://b.test,socks5://c.test/ ,socks5://[::1]:9050,http://d.test';
  const { proxies } = read({ environment: { PROXY_URL: given } });
  expect(proxies).toEqual([
    {
      scheme: 'http',
      host: 'proxy.test',
      port: 3128,
      login: { user: 'jo', password: 'p@ss' },
      name: 'http://proxy.test:3128',
    },
    { scheme: 'https', host: 'b.test', port: 443, login: undefined, name: 'https://b.test:443' },
    { scheme: 'socks5', host: 'c.test', port: 1080, login: undefined, name: 'socks5://c.test:1080' },
    { scheme: 'socks5', host: '::1', port: 9050, login: undefined, name: 'socks5://[::1]:9050' },
    { scheme: 'http', host: 'd.test', port: 80, login: undefined, name: 'http://d.test:80' },
  ]);
  expect([read({}).proxies, read({ flag: { PROXY_URL: 'none' }, environment: { PROXY_URL: given } }).proxies]).toEqual([
    [],
    [],
  ]);
});

test.each([
  ['socks5h://a.test', 'entry 1 begins with socks5h://: names are looked up on this machine, so write socks5://'],
  ['socks4://a.test', 'entry 1 does not begin with http://, https:// or socks5://'],
  ['http://a.test,b.test:3128', 'entry 2 does not begin with http://, https:// or socks5://'],
  ['http://jo:se/same@a.test', 'entry 1 is not a valid URL (in a login, write / ? # @ , as %2F %3F %23 %40 %2C)'],
  ['http://a.test:99999', 'entry 1 is not a valid URL (in a login, write / ? # @ , as %2F %3F %23 %40 %2C)'],
  ['http://a.test/path', 'entry 1 has more than a login, a host and a port'],
  ['socks5://', 'entry 1 names no host'],
  ['http://a.test:0', 'entry 1 has the port 0'],
  ['http://jo:se%same@a.test', 'entry 1 has a login with a % that is not an escape'],
  ['http://j%3Ao:sesame@a.test', 'entry 1 has a user name with a colon'],
  [`socks5://jo:${'sesame'.repeat(50)}@a.test`, 'entry 1 has a login of more than 255 bytes'],
])('PROXY_URL %s is refused, and none of it told', (given, said) => {
  const [problem = '', ...others] = problemsOf({ environment: { PROXY_URL: given } });
  expect(problem).toContain(`expected PROXY_URL to be none, or URLs of proxies: ${said}`);
  expect([problem.includes('sesame') || problem.includes('a.test'), others]).toEqual([false, []]);
});

test.each([
  ['7d', { agoMs: 604_800_000 }],
  ['2026-11-01', { at: Date.UTC(2026, 10, 1) }],
  ['2026-11-01T12:00+01:00', { at: Date.UTC(2026, 10, 1, 11) }],
  ['2026-11-01T12:00', { at: Date.UTC(2026, 10, 1, 12) }],
  ['2026-11-01T12:00:30.5', { at: Date.UTC(2026, 10, 1, 12, 0, 30, 500) }],
])('sitemaps are read since %s', (text, moment) => {
  vi.stubEnv('TZ', 'America/New_York');
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(read({ flag: { LASTMOD_SINCE: text } }).lastmodSince).toEqual(moment);
});

test('unknown rules and invalid dates are reported with the accepted forms', () => {
  const flag = { LASTMOD_SINCE: '2026-11-31', URL_KEY: 'sort-query,lower-case' };
  expect(problemsOf({ flag })).toEqual([
    'expected --url-key to be some of no-www, no-trailing-slash, no-tracking, no-session, sort-query, or none, got "sort-query,lower-case"',
    'expected --lastmod-since to be a date like 2026-11-01, or how long ago, like 7d, got "2026-11-31"',
  ]);
  expect(read({ flag: { URL_KEY: 'sort-query, no-www' } }).urlKey).toEqual(['no-www', 'sort-query']);
});
