import { expect, onTestFinished, test } from 'vitest';
import type { SessionDefinition } from '../../../../../shared/crawler/around/session.ts';
import { defineCrawler } from '../../../../../shared/crawler/crawler.ts';
import { TestSite } from '../../../../support/site.ts';
import { setup } from '../setup.ts';

/** A site whose only page, `/item/1`, needs a session, and a crawler that logs in with `session`. */
async function shop(session: SessionDefinition) {
  const crawler = defineCrawler({
    name: 'shop',
    session,
    steps: { item: { run: ({ page, emit }) => emit({ text: page.text }) } },
  });
  const world = await setup({ crawler });
  world.site.on('/item/1', ({ headers }, response) =>
    response.writeHead(headers.cookie === 'sid=s1' ? 200 : 401, { 'content-type': 'text/html' }).end('hello'),
  );
  const work = async () => {
    const pipeline = world.pipeline();
    await Promise.all((await world.deliveries()).map((delivery) => pipeline.handle(delivery)));
  };
  return { ...world, work, said: () => world.log.lines.join('\n') };
}

test.each([
  [429, '20', 20_000],
  [503, '20', 20_000],
  [429, undefined, 15_000],
  [503, undefined, 0],
])(
  'a login answered by %i with Retry-After %s pauses its host for everybody, for %i ms',
  async (status, seconds, ms) => {
    const { offer, work, clock, gate, site, said } = await shop({
      login: async ({ get }) => void (await get(site.url('/gate'))),
    });
    site.on('/gate', (_, response) => {
      if (site.count('/gate') > 1) response.writeHead(200, { 'set-cookie': 'sid=s1' }).end();
      else response.writeHead(status, seconds === undefined ? {} : { 'retry-after': seconds }).end();
    });
    await offer('/item/1');
    let isOver = false;
    const worked = work().then(() => {
      isOver = true;
    });
    await expect.poll(said).toContain('tried again');
    expect(await gate.ask(site.host, { intervalMs: 0, concurrency: 0 }, 'other')).toMatchObject({ inMs: ms });
    const asked = clock.now();
    await expect.poll(() => clock.step(1_000) ?? site.count('/gate')).toBe(2);
    expect(clock.now() - asked).toBeGreaterThanOrEqual(ms);
    await expect.poll(() => clock.step(1_000) ?? isOver).toBe(true);
    await worked;
  },
);

test('credentials in the URL of a login request are sent on redirects within their origin, and no further', async () => {
  const other = new TestSite();
  await other.start();
  onTestFinished(() => other.stop());
  const { offer, work, site } = await shop({
    login: async ({ get }) => void (await get(site.url('/in').replace('//', '//me:pass@'))),
  });
  const sent: (string | undefined)[] = [];
  const leads = (path: string, location: string): void =>
    site.on(path, ({ headers }, response) => {
      sent.push(headers.authorization);
      response.writeHead(302, { location, 'set-cookie': 'sid=s1' }).end();
    });
  leads('/in', '/within');
  leads('/within', other.url('/out'));
  other.on('/out', ({ headers }, response) => {
    sent.push(headers.authorization);
    response.writeHead(200).end();
  });
  await offer('/item/1');
  await work();
  const basic = `Basic ${Buffer.from('me:pass').toString('base64')}`;
  expect(sent).toEqual([basic, basic, undefined]);
});

test('the error for a bad URL in a login names no credentials', async () => {
  const { offer, work, clock, said } = await shop({
    login: async ({ get }) => void (await get('http://me:pass@127.0.0.1:99999/in')),
  });
  await offer('/item/1');
  const worked = work();
  await expect.poll(() => clock.step(1_000) ?? said()).toContain('the run is paused');
  await worked;
  expect(said()).toContain('got http://127.0.0.1:99999/in: ');
});

test('a submitted form sends the page as Referer to its own origin, and only the origin to another, as browsers do', async () => {
  const other = new TestSite();
  await other.start();
  onTestFinished(() => other.stop());
  const sent: unknown[] = [];
  const { offer, work, site } = await shop({
    login: async ({ get, submit }) => {
      for (const form of ['#own', '#get', '#other']) await submit(await get(site.url('/form?x=1')), {}, { form });
    },
  });
  site.on('/form', (_, response) => {
    const forms = '<form id=own method=post action=/in></form><form id=get action=/get></form>';
    const html = `${forms}<form id=other method=post action="${other.url('/in')}"></form>`;
    response.writeHead(200, { 'content-type': 'text/html', 'set-cookie': 'sid=s1' }).end(html);
  });
  const note = (to: TestSite, path: string): void =>
    to.on(path, ({ headers }, response) => {
      sent.push([headers.referer, headers.origin, headers['content-type']]);
      response.writeHead(200).end();
    });
  note(site, '/in');
  note(site, '/get');
  note(other, '/in');
  await offer('/item/1');
  await work();
  const origin = site.url('').replace(/\/$/, '');
  const type = 'application/x-www-form-urlencoded';
  expect(sent).toEqual([
    [`${origin}/form?x=1`, origin, type],
    [`${origin}/form?x=1`, undefined, undefined],
    [`${origin}/`, origin, type],
  ]);
});
