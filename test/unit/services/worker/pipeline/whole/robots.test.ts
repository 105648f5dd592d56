import { expect, test } from 'vitest';
import { EVERYTHING } from '../../../../../support/stores/embedded.ts';
import { withMethods } from '../../../../../support/with-methods.ts';
import { setup } from '../../setup.ts';

type World = Awaited<ReturnType<typeof setup>>;

/** Works on all tasks due now, with one worker that obeys robots.txt. */
async function work({ deliveries, pipeline, robots }: World): Promise<void> {
  const obeying = pipeline({ robots: robots() });
  await Promise.all((await deliveries()).map((delivery) => obeying.handle(delivery)));
}

test('pages that robots.txt forbids are skipped with that reason, and the others are fetched', async () => {
  const world = await setup();
  world.site.robots = 'User-agent: *\nDisallow: /page/1$\nDisallow: /page/2';
  await world.offer('/page/1', '/page/2', '/page/3', '/robots.txt');
  await work(world);
  expect(await world.runs.progress('r')).toMatchObject({ done: 2, skipped: 2, failed: 0 });
  expect((await world.runs.progress('r'))?.reasons.skipped).toEqual({ robots: 2 });
  expect(world.site.requests.map(({ path }) => path).toSorted()).toEqual(['/page/3', '/robots.txt', '/robots.txt']);
  expect(world.sink.records.filter(({ outcome }) => outcome === 'skipped')).toMatchObject([
    { reason: 'robots', error: 'robots.txt forbids it (User-agent: *, Disallow: /page/1$)' },
    { reason: 'robots', error: 'robots.txt forbids it (User-agent: *, Disallow: /page/2)' },
  ]);
});

test('the record of a redirect to a page that robots.txt forbids names that page', async () => {
  const world = await setup();
  world.site.robots = 'User-agent: *\nDisallow: /page/';
  world.site.on('/moved', (_, response) => response.writeHead(302, { location: '/page/2' }).end());
  await world.offer('/moved');
  await work(world);
  const to = world.site.url('/page/2');
  const error = `redirected to ${to}: robots.txt forbids it (User-agent: *, Disallow: /page/)`;
  expect(world.sink.records).toMatchObject([{ reason: 'robots', error, redirects: [to] }]);
});

test('a run that ignores robots.txt fetches forbidden pages, after a redirect too', async () => {
  const world = await setup({ run: { robots: 'ignore' } });
  world.site.robots = 'User-agent: *\nDisallow: /';
  world.site.on('/moved', (_, response) => response.writeHead(302, { location: '/page/2' }).end());
  await world.offer('/page/1', '/moved');
  await work(world);
  expect(await world.runs.progress('r')).toMatchObject({ done: 2, skipped: 0 });
  expect(world.site.requests.map(({ path }) => path).toSorted()).toEqual(['/moved', '/page/1', '/page/2']);
});

test('a page with a Crawl-delay of more than a minute is skipped with that reason', async () => {
  const world = await setup();
  world.site.robots = 'User-agent: *\nCrawl-delay: 120';
  await world.offer('/page/1');
  await work(world);
  expect((await world.runs.progress('r'))?.reasons.skipped).toEqual({ crawl_delay: 1 });
  expect(world.site.count('/page/1')).toBe(0);
});

test('a page waits for its turn under a Crawl-delay without counting an attempt', async () => {
  const world = await setup();
  world.site.robots = 'User-agent: *\nCrawl-delay: 10';
  await world.offer('/page/1', '/page/2');
  await work(world);
  const requests: number[] = [];
  for (let turn = 0; turn < 3; turn++) {
    requests.push(world.site.requests.length);
    world.clock.step(10_000);
    await work(world);
  }
  expect(requests, 'the file, and a page at a time').toEqual([1, 2, 3]);
  expect(world.sink.records.map(({ attempt }) => attempt)).toEqual([1, 1]);
});

test('a cached page that robots.txt forbids by now is skipped', async () => {
  const world = await setup();
  await world.offer('/page/1');
  for (const delivery of await world.deliveries()) await world.pipeline().handle(delivery);
  world.site.robots = 'User-agent: *\nDisallow: /';
  await world.runs.open('next', { ...(await world.runs.progress('r'))?.options, dedup: 'run' } as never, 'p');
  const { url, host, mark } = { url: world.site.url('/page/1'), host: world.site.host, mark: 'm' };
  await world.frontier.offer('next', [{ url, host, mark, step: '', depth: 0, queue: 'normal' }]);
  await work(world);
  expect(await world.runs.progress('next')).toMatchObject({ done: 0, skipped: 1 });
});

test('while robots.txt is unavailable its host is paused and pages wait, without counting an attempt', async () => {
  const world = await setup();
  world.site.on('/robots.txt', (_, response) => void response.writeHead(503).end());
  await world.offer('/page/1', '/page/2', '/page/3');
  await work(world);
  expect(await world.runs.progress('r')).toMatchObject({ waiting: 3, inFlight: 0, done: 0, failed: 0 });
  expect(await world.runs.hosts('r', 1)).toMatchObject([{ pausedMs: 15_000, reason: 'robots.txt: HTTP 503' }]);
  expect(await world.deliveries(), 'nothing of the host is released').toEqual([]);
  world.site.on('/robots.txt', (_, response) => void response.writeHead(404).end());
  world.clock.step(15_000);
  const { tasks } = await world.frontier.release({ ...EVERYTHING, limit: 1 });
  expect(tasks).toMatchObject([{ state: { attempts: 0, throttles: 0, starts: 0 } }]);
  await work(world);
  expect(await world.runs.progress('r')).toMatchObject({ done: 2, inFlight: 1, failed: 0 });
  expect([world.site.count('/robots.txt'), await world.letters()]).toEqual([2, []]);
});

test('a host whose robots.txt stays unavailable is given up, without its pages being requested', async () => {
  const world = await setup();
  world.site.on('/robots.txt', (_, response) => void response.writeHead(500).end());
  await world.offer('/page/1', '/page/2');
  let down: string[] = [];
  for (let minute = 0; minute < 12 && down.length === 0; minute++) {
    const { tasks } = await world.frontier.release(EVERYTHING);
    down = tasks.filter(({ verdict }) => verdict === 'host_down').map(({ task }) => task.url);
    for (const { task, release, verdict } of tasks) {
      if (verdict !== 'go') continue;
      const [body, headers] = [new TextEncoder().encode(JSON.stringify(task)), { 'x-release': release }];
      const delivery = { queue: 'normal', id: undefined, body, headers, redelivered: false } as const;
      await world.pipeline({ robots: world.robots() }).handle(delivery);
    }
    world.clock.step(60_000);
  }
  expect(down).toEqual([world.site.url('/page/1'), world.site.url('/page/2')]);
  expect(world.site.requests.map(({ path }) => path)).not.toContain('/page/1');
});

test('a delivery whose robots.txt store fails comes again, and nothing is fetched', async () => {
  const world = await setup();
  await world.offer('/page/1');
  const store = withMethods(world.robotsStore, {
    find: async () => {
      throw new Error('Redis is away');
    },
  });
  const [delivery] = await world.deliveries();
  if (delivery === undefined) throw new Error('nothing was released');
  await expect(world.pipeline({ robots: world.robots({ store }) }).handle(delivery)).rejects.toThrow('away');
  expect(world.site.requests).toEqual([]);
});

test('a page of a lost run obeys robots.txt, and is returned to the queue while that is unavailable', async () => {
  const world = await setup();
  world.site.robots = 'User-agent: *\nDisallow: /page/1';
  const obeying = world.pipeline({ robots: world.robots() });
  const lost = (path: string) => ({
    queue: 'normal' as const,
    id: undefined,
    body: new TextEncoder().encode(JSON.stringify({ run: 'lost', url: world.site.url(path) })),
    headers: { 'x-release': 7 },
    redelivered: false,
  });
  expect(await obeying.handle(lost('/page/1'))).toBe('ack');
  expect(world.sink.records).toMatchObject([{ outcome: 'skipped', reason: 'robots' }]);
  world.clock.step(24 * 3_600_000);
  world.site.on('/robots.txt', (_, response) => void response.writeHead(503).end());
  expect(await obeying.handle(lost('/page/2'))).toBe('return');
  expect(world.site.count('/page/2')).toBe(0);
});

test('a redirect to a page that robots.txt forbids is not followed', async () => {
  const world = await setup();
  world.site.robots = 'User-agent: *\nDisallow: /page/';
  await world.offer('/redirect/1', '/redirect-to?url=/status/204');
  await work(world);
  expect(await world.runs.progress('r')).toMatchObject({ done: 1, skipped: 1, reasons: { skipped: { robots: 1 } } });
  expect(world.site.count('/page/1')).toBe(0);
  expect(world.site.count('/robots.txt'), 'asked once for all').toBe(1);
});
