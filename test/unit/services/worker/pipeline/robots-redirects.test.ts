import { expect, test } from 'vitest';
import type { Permission, Robots } from '../../../../../services/worker/pipeline/hosts/robots.ts';
import { TestSite } from '../../../../support/site.ts';
import { settled } from '../../../../support/stores/embedded.ts';
import { setup } from '../setup.ts';

type World = Awaited<ReturnType<typeof setup>>;

const NEVER = new AbortController().signal;
const RULES = 'User-agent: *\nDisallow: /forbidden';

async function ask(robots: Robots, site: TestSite, { path = '/forbidden', intervalMs = 0 } = {}): Promise<Permission> {
  const url = site.url(path);
  return await robots.permit({ url, host: site.host, intervalMs, signal: NEVER }, await robots.look(url));
}

/** Steps the clock until there is an answer. */
async function steppedTo({ clock }: World, asked: Promise<Permission>): Promise<Permission> {
  let permission: Permission | undefined;
  void asked.then((answer) => {
    permission = answer;
  });
  while (permission === undefined) {
    await settled();
    clock.step(50);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  return permission;
}

/** Asks until there is an answer, as a host's tasks do when they are put back. Returns the answer and how often it asked. */
async function askUntilKnown(world: World, robots: Robots, site: TestSite, intervalMs = 0) {
  const { clock } = world;
  for (let times = 1; times <= 50; times++) {
    const permission = await steppedTo(world, ask(robots, site, { intervalMs }));
    if (permission.kind !== 'later') return { permission, times };
    clock.step(permission.inMs);
  }
  throw new Error('it came to no answer');
}

async function withHub(use: (hub: TestSite) => Promise<void>): Promise<void> {
  const hub = new TestSite();
  await hub.start();
  hub.robots = RULES;
  try {
    await use(hub);
  } finally {
    await hub.stop();
  }
}

function redirectTo(site: TestSite, location: string): void {
  site.on('/robots.txt', (_, response) => void response.writeHead(302, { location }).end('moved'));
}

test('a robots.txt redirect to a paused host waits, and resumes at that hop', async () => {
  const world = await setup();
  await withHub(async (hub) => {
    redirectTo(world.site, hub.url('/robots.txt'));
    await world.gate.pause(hub.host, 60_000, 'by another');
    const robots = world.robots();
    const first = await ask(robots, world.site);
    expect(first).toMatchObject({ kind: 'later', inMs: 60_000 });
    expect([world.site.count('/robots.txt'), hub.requests.length]).toEqual([1, 0]);
    world.clock.step(60_000);
    // Another worker resumes without asking the first host again.
    expect(await ask(world.robots(), world.site)).toMatchObject({ kind: 'skip', reason: 'robots' });
    expect([world.site.count('/robots.txt'), hub.count('/robots.txt')]).toEqual([1, 1]);
  });
});

test('hosts whose robots.txt redirects to one hub ask it no faster than the hub’s interval', async () => {
  const world = await setup();
  const sites = await Promise.all(
    Array.from({ length: 5 }, async () => {
      const site = new TestSite();
      await site.start();
      return site;
    }),
  );
  await withHub(async (hub) => {
    const asked: number[] = [];
    hub.on('/robots.txt', (_, response) => {
      asked.push(world.clock.now());
      response.end(RULES);
    });
    for (const site of sites) redirectTo(site, hub.url('/robots.txt'));
    const robots = world.robots();
    for (const site of sites) {
      const { permission } = await askUntilKnown(world, robots, site, 5_000);
      expect(permission).toMatchObject({ kind: 'skip', reason: 'robots' });
    }
    const gaps = asked.slice(1).map((at, n) => at - (asked[n] ?? 0));
    expect(gaps).toHaveLength(4);
    for (const gap of gaps) expect(gap).toBeGreaterThanOrEqual(5_000 - 500);
  });
  await Promise.all(sites.map((site) => site.stop()));
});

test('a robots.txt behind five redirects on its host takes six of the host’s turns', async () => {
  const world = await setup();
  const asked: number[] = [];
  world.site.on('/robots.txt', (_, response) => {
    asked.push(world.clock.now());
    response.writeHead(302, { location: '/hop/4' }).end();
  });
  for (let left = 4; left >= 0; left--) {
    world.site.on(`/hop/${left}`, (_, response) => {
      asked.push(world.clock.now());
      if (left === 0) response.end(RULES);
      else response.writeHead(302, { location: `/hop/${left - 1}` }).end();
    });
  }
  const { permission } = await askUntilKnown(world, world.robots(), world.site, 5_000);
  expect(permission).toMatchObject({ kind: 'skip', reason: 'robots' });
  expect(asked).toHaveLength(6);
  const gaps = asked.slice(1).map((at, n) => at - (asked[n] ?? 0));
  for (const gap of gaps) expect(gap).toBeGreaterThanOrEqual(5_000 - 500);
});

test('a robots.txt redirect counts towards the open requests of the host it leads to', async () => {
  const world = await setup();
  await withHub(async (hub) => {
    redirectTo(world.site, hub.url('/robots.txt'));
    const limit = { intervalMs: 0, concurrency: 1 };
    await world.gate.ask(hub.host, limit, 'a page');
    const robots = world.robots({ hostConcurrency: 1 });
    const permission = ask(robots, world.site);
    await world.site.arrival('/robots.txt');
    await settled();
    expect(hub.requests).toEqual([]);
    await world.gate.leave(hub.host, limit, 'a page');
    world.clock.step(10_000);
    const now = await permission;
    if (now.kind === 'later') expect(await askUntilKnown(world, robots, world.site)).toMatchObject({ times: 1 });
    expect(hub.count('/robots.txt')).toBe(1);
    expect(await world.gate.ask(hub.host, limit, 'another')).toMatchObject({ granted: true });
    expect(await world.gate.ask(world.site.host, limit, 'another')).toMatchObject({ granted: true });
  });
});

test('a hub that answers a robots.txt redirect with 429 is paused, and so is the redirecting host', async () => {
  const world = await setup();
  await withHub(async (hub) => {
    redirectTo(world.site, hub.url('/robots.txt'));
    hub.on('/robots.txt', (_, response) => void response.writeHead(429, { 'retry-after': '90' }).end());
    expect(await ask(world.robots(), world.site)).toMatchObject({ kind: 'unreachable' });
    const free = { intervalMs: 0, concurrency: 0 };
    for (const { host } of [hub, world.site]) {
      expect(await world.gate.ask(host, free, 'a look')).toMatchObject({ granted: false, inMs: 90_000 });
    }
  });
});

test('a host whose robots.txt redirects to a busy hub asks less and less often', async () => {
  const world = await setup();
  await withHub(async (hub) => {
    redirectTo(world.site, hub.url('/robots.txt'));
    const waits: number[] = [];
    for (let n = 0; n < 11; n++) {
      await world.gate.ask(hub.host, { intervalMs: 0, concurrency: 1 }, 'a page');
      const permission = await steppedTo(world, ask(world.robots({ hostConcurrency: 1 }), world.site));
      if (permission.kind !== 'later') throw new Error(permission.kind);
      waits.push(permission.inMs / 1_000);
      world.clock.step(permission.inMs);
    }
    // With half the jitter.
    expect(waits).toEqual([2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]);
    expect(world.site.count('/robots.txt')).toBe(1);
    expect(hub.requests).toEqual([]);
  });
});

test('a host whose robots.txt redirects to a hub paused by hand asks again after a quarter of an hour, since such a pause can end at any time', async () => {
  const world = await setup();
  await withHub(async (hub) => {
    redirectTo(world.site, hub.url('/robots.txt'));
    await world.gate.pauseByHand(hub.host, 'by hand');
    expect(await ask(world.robots(), world.site)).toEqual({ kind: 'later', inMs: 900_000 });
    expect(hub.requests).toEqual([]);
  });
});

test('a robots.txt whose redirects take longer than a request may is continued by the next worker', async () => {
  const world = await setup();
  await withHub(async (hub) => {
    redirectTo(world.site, hub.url('/robots.txt'));
    const robots = world.robots({ timeoutMs: 0 });
    expect(await ask(robots, world.site)).toEqual({ kind: 'later', inMs: 0 });
    expect([world.site.count('/robots.txt'), hub.count('/robots.txt')]).toEqual([1, 0]);
    expect(await ask(world.robots(), world.site)).toMatchObject({ kind: 'skip', reason: 'robots' });
    expect([world.site.count('/robots.txt'), hub.count('/robots.txt')]).toEqual([1, 1]);
  });
});
