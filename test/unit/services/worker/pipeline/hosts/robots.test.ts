import { expect, test } from 'vitest';
import type { Permission, Robots } from '../../../../../../services/worker/pipeline/hosts/robots.ts';
import { MAX_SLOT_WAIT_MS } from '../../../../../../shared/ports/host-gate.ts';
import { DAY_MS } from '../../../../../../shared/task/durations.ts';
import { MAX_ROBOTS_BYTES } from '../../../../../../shared/task/robots/robots-sitemaps.ts';
import { openLane } from '../../../../../support/lane.ts';
import { TestSite } from '../../../../../support/site.ts';
import { settled } from '../../../../../support/stores/embedded.ts';
import { withMethods } from '../../../../../support/with-methods.ts';
import { setup } from '../../setup.ts';

type World = Awaited<ReturnType<typeof setup>>;

const NEVER = new AbortController().signal;

/** Calls `look` and `permit` as the pipeline does. */
async function ask(
  robots: Robots,
  { site }: { site: TestSite },
  path = '/page/1',
  signal = NEVER,
): Promise<Permission> {
  const url = site.url(path);
  return await robots.permit({ url, host: site.host, intervalMs: 0, signal }, await robots.look(url));
}

async function pausedMs({ gate, site }: World): Promise<number> {
  const { inMs } = await gate.ask(site.host, { intervalMs: 0, concurrency: 0 }, 'a look');
  return inMs;
}

// biome-ignore format: a table
test.each<[string, string, object]>([
  ['User-agent: *\nDisallow: /page/',                    '/page/1', { kind: 'skip', reason: 'robots', asked: true }],
  ['User-agent: *\nDisallow: /page/',                    '/other',  { kind: 'allow', intervalMs: 0 }],
  ['User-agent: *\nDisallow: /*?secret',                 '/page/1?secret=1', { kind: 'skip', reason: 'robots' }],
  ['User-agent: *\nDisallow: /',                         '/robots.txt', { kind: 'allow' }],
  ['User-agent: TrawlBot\nCrawl-delay: 2.5',             '/page/1', { kind: 'allow', intervalMs: 2_500 }],
  ['User-agent: *\nCrawl-delay: 60',                     '/page/1', { kind: 'allow', intervalMs: 60_000 }],
  ['User-agent: *\nCrawl-delay: 60.1',                   '/page/1', { kind: 'skip', reason: 'crawl_delay', detail: 'robots.txt asks for 60.1 s between requests' }],
  ['User-agent: *\nCrawl-delay: 90\nDisallow: /page/',   '/page/1', { kind: 'skip', reason: 'robots' }],
])('the permission of %j for %s is %j', async (file, path, permission) => {
  const world = await setup();
  world.site.robots = file;
  expect(await ask(world.robots(), world, path)).toMatchObject(permission);
});

test('a rule that is cut off by the size limit does not count, and the rules before it do', async () => {
  const world = await setup();
  const [start, cut] = ['User-agent: *\nDisallow: /secret/\n#', '\nDisallow: /'];
  world.site.robots = `${start.padEnd(MAX_ROBOTS_BYTES - cut.length, '#')}${cut}private/\n`;
  const robots = world.robots();
  expect(await ask(robots, world, '/page/1')).toMatchObject({ kind: 'allow' });
  expect(await ask(robots, world, '/secret/1')).toMatchObject({ kind: 'skip', reason: 'robots' });
});

test('robots.txt is asked for once for many pages in several processes', async () => {
  const world = await setup();
  const { site } = world;
  const workers = [world.robots(), world.robots()];
  const paths = Array.from({ length: 20 }, (_, n) => `/page/${n}`);
  const [first, second] = workers.map((robots) => Promise.all(paths.map((path) => ask(robots, world, path))));
  await first;
  // The other one polls the store.
  world.clock.step(100);
  expect(new Set((await second)?.map(({ kind }) => kind))).toEqual(new Set(['allow']));
  expect(site.count('/robots.txt')).toBe(1);
});

test('known rules are not read from the store again for five minutes', async () => {
  const world = await setup();
  let looks = 0;
  const store = withMethods(world.robotsStore, {
    find: async (origin) => {
      looks++;
      return await world.robotsStore.find(origin);
    },
  });
  const robots = world.robots({ store });
  await ask(robots, world);
  const before = looks;
  for (let n = 0; n < 100; n++) await ask(robots, world, `/page/${n}`);
  expect(looks).toBe(before);
  world.clock.step(300_000);
  await ask(robots, world);
  expect(looks).toBe(before + 1);
  expect(world.site.count('/robots.txt')).toBe(1);
});

test('a page waits a moment while another process asks for robots.txt, and is then put off', async () => {
  const world = await setup();
  await world.robotsStore.lock(world.site.origin, 60_000);
  const permissions = Promise.all([ask(world.robots(), world), ask(world.robots(), world)]);
  for (let ms = 0; ms <= MAX_SLOT_WAIT_MS; ms += 100) {
    await settled();
    world.clock.step(100);
  }
  expect(await permissions).toEqual(Array(2).fill({ kind: 'later', inMs: 1_000 }));
  expect(world.site.requests).toEqual([]);
});

test('the lock of a process that died is waited for no longer than it lasts', async () => {
  const world = await setup();
  await world.robotsStore.lock(world.site.origin, 150);
  const permission = ask(world.robots(), world);
  for (let ms = 0; ms <= 200; ms += 100) {
    await settled();
    world.clock.step(100);
  }
  expect(await permission).toMatchObject({ kind: 'allow' });
});

test('a slow robots.txt holds the slot of one page, and the others are put off', async () => {
  const world = await setup();
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  world.site.on('/robots.txt', async (_, response) => {
    await answered;
    response.end('User-agent: *\nDisallow: /page/2');
  });
  const robots = world.robots();
  const first = ask(robots, world, '/page/1');
  await world.site.arrival('/robots.txt');
  const second = ask(robots, world, '/page/2');
  await settled();
  world.clock.step(MAX_SLOT_WAIT_MS);
  expect(await second).toEqual({ kind: 'later', inMs: 1_000 });
  answer();
  expect(await first).toMatchObject({ kind: 'allow' });
  expect(await ask(robots, world, '/page/2')).toMatchObject({ kind: 'skip' });
});

// biome-ignore format: a table
test.each<[string, (site: TestSite) => void, string, number, string, RegExp?]>([
  ['503',                  (site) => site.on('/robots.txt', (_, response) => void response.writeHead(503).end()),                         'robots.txt: HTTP 503', 15_000, 'answered: robots.txt 503'],
  ['503 with Retry-After', (site) => site.on('/robots.txt', (_, response) => void response.writeHead(503, { 'retry-after': '90' }).end()),  'robots.txt: HTTP 503, Retry-After', 90_000, 'answered: robots.txt 503'],
  ['429',                  (site) => site.on('/robots.txt', (_, response) => void response.writeHead(429).end()),                         'robots.txt: HTTP 429', 15_000, 'answered: robots.txt 429'],
  ['a reset',              (site) => site.on('/robots.txt', (request) => void request.socket.resetAndDestroy()),                          'robots.txt: connection', 15_000, 'silent: connection errors', /^robots\.txt: .*ECONNRESET/],
  ['a truncated file',          (site) => site.on('/robots.txt', (request) => void request.socket.end('HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\nUser-agent: *')), 'robots.txt: connection', 15_000, 'answered: robots.txt: connection errors', /^robots\.txt: Content-Length mismatch/],
  ['a broken encoding',    (site) => site.on('/robots.txt', (_, response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end('no gzip')), 'robots.txt: encoding', 15_000, 'answered: robots.txt: a broken encoding', /^robots\.txt: incorrect header/],
])('%s for robots.txt makes the host unreachable and pauses it', async (_, prepare, reason, ms, trouble, told = /^robots\.txt: HTTP/) => {
  const world = await setup();
  prepare(world.site);
  const permission = await ask(world.robots(), world);
  expect(permission).toMatchObject({ kind: 'unreachable', detail: expect.stringMatching(told) });
  expect(permission.kind === 'unreachable' && `${permission.trouble.kind}: ${permission.trouble.reason}`).toBe(trouble);
  expect(await pausedMs(world)).toBe(ms);
  expect(await world.gate.resume(world.site.host)).toMatchObject({ reason });
});

test('a host whose robots.txt is unavailable is asked less and less often, and never counts as free of rules', async () => {
  const world = await setup();
  world.site.on('/robots.txt', (_, response) => void response.writeHead(500).end());
  const pauses: number[] = [];
  for (let failures = 0; failures < 8; failures++) {
    expect(await ask(world.robots(), world)).toMatchObject({ kind: 'unreachable' });
    pauses.push(await pausedMs(world));
    world.clock.step(pauses.at(-1) ?? 0);
  }
  expect(pauses.map((ms) => ms / 1_000)).toEqual([15, 30, 60, 120, 240, 480, 900, 900]);
});

test('a silent host is asked for its robots.txt every 15 s, and the frontier learns for how long it would wait if it had answered before', async () => {
  const world = await setup();
  world.site.on('/robots.txt', (request) => void request.socket.resetAndDestroy());
  const waits: unknown[] = [];
  for (let n = 0; n < 3; n++) {
    const permission = await ask(world.robots(), world);
    if (permission.kind !== 'unreachable') throw new Error(permission.kind);
    waits.push([await pausedMs(world), permission.trouble]);
    world.clock.step(15_000);
  }
  const silent = (pauseMs: number) => ({ kind: 'silent', reason: 'connection errors', pauseMs });
  expect(waits).toEqual([
    [15_000, silent(15_000)],
    [15_000, silent(30_000)],
    [15_000, silent(60_000)],
  ]);
});

test('a paused host is not asked for its robots.txt', async () => {
  const world = await setup();
  await world.gate.pause(world.site.host, 60_000, 'by another');
  expect(await ask(world.robots(), world)).toEqual({ kind: 'later', inMs: 60_000 });
  expect(world.site.requests).toEqual([]);
  expect(await world.robotsStore.lock(world.site.origin, 1_000), 'the lock was released').toBe(true);
});

test('a robots.txt request takes a place at the host’s gate and gives it back', async () => {
  const world = await setup();
  const { gate, site } = world;
  const limit = { intervalMs: 0, concurrency: 1 };
  await gate.ask(site.host, limit, 'a page');
  const robots = world.robots({ hostConcurrency: 1 });
  const permission = ask(robots, world);
  await settled();
  expect(site.requests).toEqual([]);
  await gate.leave(site.host, limit, 'a page');
  world.clock.step(1_000);
  expect(await permission).toMatchObject({ kind: 'allow' });
  expect(await gate.ask(site.host, limit, 'a page')).toMatchObject({ granted: true });
});

test.each([429, 500])('a robots.txt answered by %i does not count as a quick answer of its host', async (status) => {
  const world = await setup();
  const { gate, site, database } = world;
  await gate.leave(site.host, { intervalMs: 0, concurrency: 1 }, 'a page', { durationMs: 10_000 });
  site.on('/robots.txt', (_, response) => void response.writeHead(status).end());
  expect(await ask(world.robots({ hostConcurrency: 1 }), world)).toMatchObject({ kind: 'unreachable' });
  expect(database.all('SELECT responseMs FROM hosts WHERE host = ?', site.host)).toEqual([{ responseMs: 10_000 }]);
});

test('a Crawl-delay slows its host for everybody', async () => {
  const world = await setup();
  world.site.robots = 'User-agent: *\nCrawl-delay: 10';
  await ask(world.robots(), world);
  const free = { intervalMs: 0, concurrency: 0 };
  expect(await world.gate.ask(world.site.host, free, 'a')).toMatchObject({ granted: false, inMs: 10_000 });
  world.clock.step(10_000);
  expect(await world.gate.ask(world.site.host, free, 'a')).toEqual({ granted: true, inMs: 0 });
  expect(await world.gate.ask(world.site.host, free, 'b')).toMatchObject({ granted: false, inMs: 10_000 });
});

test('rules older than a day are asked for again, and a 503 then makes the host unreachable', async () => {
  const world = await setup();
  const robots = world.robots();
  expect(await ask(robots, world)).toMatchObject({ kind: 'allow' });
  world.clock.step(DAY_MS - 300_001);
  expect(await ask(robots, world)).toMatchObject({ kind: 'allow' });
  expect(world.site.count('/robots.txt')).toBe(1);
  world.site.on('/robots.txt', (_, response) => void response.writeHead(503).end());
  world.clock.step(300_001);
  expect(await ask(robots, world)).toMatchObject({ kind: 'unreachable' });
});

test('a missing robots.txt counts as no rules for an hour', async () => {
  const world = await setup();
  world.site.on('/robots.txt', (_, response) => void response.writeHead(404).end());
  await ask(world.robots(), world);
  world.site.on('/robots.txt', (_, response) => void response.end('User-agent: *\nDisallow: /'));
  world.clock.step(3_599_999);
  expect(await ask(world.robots(), world)).toMatchObject({ kind: 'allow' });
  world.clock.step(1);
  expect(await ask(world.robots(), world)).toMatchObject({ kind: 'skip' });
});

test('each origin has a robots.txt of its own', async () => {
  const world = await setup();
  const other = new TestSite();
  await other.start();
  other.robots = 'User-agent: *\nDisallow: /';
  const robots = world.robots();
  try {
    expect(await ask(robots, world)).toMatchObject({ kind: 'allow' });
    expect(await ask(robots, { site: other })).toMatchObject({ kind: 'skip' });
  } finally {
    await other.stop();
  }
});

test('a host name that doesn’t exist or an invalid certificate fails the page, as the page’s own request would', async () => {
  const world = await setup();
  const site = new TestSite({ tls: true });
  await site.start();
  const robots = world.robots();
  const resolve = () => Promise.reject(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }));
  const nameless = world.robots({ fetcher: openLane({ timeoutMs: 1_000, userAgent: 'TrawlBot/0', resolve }) });
  const candidate = { host: 'a.test', intervalMs: 0, signal: NEVER };
  try {
    expect(await ask(robots, { site })).toMatchObject({ kind: 'fail', error: { reason: 'tls' } });
    const found = await nameless.permit({ ...candidate, url: 'http://a.test/' }, undefined);
    expect(found).toMatchObject({ kind: 'fail', error: { reason: 'nxdomain' } });
  } finally {
    await site.stop();
  }
});

test('a private address is allowed here, as the page’s own request refuses it', async () => {
  const { robots } = await setup();
  const candidate = { url: 'http://10.0.0.1/', host: '10.0.0.1', intervalMs: 0, signal: NEVER };
  expect(await robots().permit(candidate, undefined)).toMatchObject({ kind: 'allow' });
});

test('a robots.txt check fails, and permits nothing, while its store fails', async () => {
  const world = await setup();
  const down = async (): Promise<never> => {
    throw new Error('Redis is away');
  };
  const unlockable = withMethods(world.robotsStore, { lock: down });
  await expect(ask(world.robots({ store: unlockable }), world)).rejects.toThrow('away');
  const unkept = withMethods(world.robotsStore, { keep: down });
  await expect(ask(world.robots({ store: unkept }), world)).rejects.toThrow('away');
  expect(await ask(world.robots(), world), 'the lock is free for the next one').toMatchObject({ kind: 'allow' });
});

test('an aborted robots.txt request does not pause the host', async () => {
  const world = await setup();
  const stop = new AbortController();
  world.site.on('/robots.txt', () => stop.abort());
  expect(await ask(world.robots(), world, '/page/1', stop.signal)).toMatchObject({ kind: 'later' });
  expect(await pausedMs(world)).toBe(0);
});
