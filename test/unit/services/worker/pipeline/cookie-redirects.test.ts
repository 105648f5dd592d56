import { expect, onTestFinished, test } from 'vitest';
import { TestSite } from '../../../../support/site.ts';
import { setup } from '../setup.ts';

const CANARY = 'canary-c00kie';

/** A site that sets a cookie, redirects to the same page and answers only requests with the cookie. */
async function wall(options: Parameters<typeof setup>[0] = {}) {
  const world = await setup(options);
  const { site } = world;
  const cookies: (string | undefined)[] = [];
  site.on('/wall', ({ headers }, response) => {
    cookies.push(headers.cookie);
    if (headers.cookie?.includes(`id=${CANARY}`)) response.writeHead(200, { 'content-type': 'text/html' }).end('in');
    else response.writeHead(302, { location: '/wall', 'set-cookie': [`id=${CANARY}; Path=/`, 'b=2'] }).end();
  });
  const handleNext = async () => {
    const [delivery] = await world.deliveries();
    if (delivery === undefined) throw new Error('nothing was released');
    await world.pipeline().handle(delivery);
    return delivery;
  };
  return { ...world, cookies, handleNext };
}

test('a redirect to itself that sets a cookie is followed with it, and the cookie shows in no record, log or cache', async () => {
  const { offer, handleNext, runs, sink, cookies, log, cache, site } = await wall({ run: { dedup: 'run' } });
  await offer('/wall');
  await handleNext();
  expect(await runs.progress('r')).toMatchObject({ done: 1 });
  expect(cookies).toEqual([undefined, `id=${CANARY}; b=2`]);
  expect(JSON.stringify(sink.records)).not.toContain('canary');
  expect(JSON.stringify(log)).not.toContain('canary');
  expect(await cache.get(site.url('/wall'))).toBe(undefined);
});

test('a task that waits for its host between redirects keeps its cookies', async () => {
  const { offer, handleNext, runs, cookies, clock } = await wall({ run: { intervalMs: 60_000 } });
  await offer('/wall');
  await handleNext();
  expect(await runs.progress('r')).toMatchObject({ waiting: 1, done: 0 });
  clock.step(60_000);
  await handleNext();
  expect(await runs.progress('r')).toMatchObject({ done: 1 });
  expect(cookies).toEqual([undefined, `id=${CANARY}; b=2`]);
});

test('cookies are sent neither to another host that a redirect leads to nor with the next task', async () => {
  const { offer, handleNext, site } = await wall();
  const other = new TestSite();
  await other.start();
  onTestFinished(() => other.stop());
  const seen: (string | undefined)[] = [];
  for (const each of [site, other])
    each.on('/end', ({ headers }, response) => {
      seen.push(headers.cookie);
      response.writeHead(200, { 'content-type': 'text/html' }).end('end');
    });
  site.on('/away', (_, response) => {
    response.writeHead(302, { location: other.url('/end'), 'set-cookie': 'id=1; Path=/' }).end();
  });
  await offer('/away');
  await handleNext();
  await offer('/end');
  await handleNext();
  expect(seen).toEqual([undefined, undefined]);
});

test('a site that keeps redirecting despite its cookie fails as a circle, and its dead letter has no cookie', async () => {
  const { offer, handleNext, runs, site, transport } = await wall();
  site.on('/deaf', (_, response) => {
    response.writeHead(302, { location: '/deaf', 'set-cookie': `id=${CANARY}` }).end();
  });
  await offer('/deaf');
  await handleNext();
  expect(await runs.progress('r')).toMatchObject({ failed: 1, reasons: { failed: { redirects: 1 } } });
  const letters = await transport.browse(10);
  expect(letters).toHaveLength(1);
  expect(letters.map(({ body }) => Buffer.from(body).toString()).join()).not.toContain('canary');
  expect(site.count('/deaf')).toBe(4);
});

test('a cookie set by a page without a redirect is not sent with later tasks', async () => {
  const { offer, handleNext, site, cookies } = await wall();
  site.on('/first', (_, response) => {
    response.writeHead(200, { 'content-type': 'text/html', 'set-cookie': `id=${CANARY}; Path=/` }).end('first');
  });
  await offer('/first');
  await handleNext();
  await offer('/wall');
  await handleNext();
  expect(cookies[0]).toBe(undefined);
});
