import { expect, test } from 'vitest';
import { RunDirectory } from '../../../../../../services/worker/run-directory.ts';
import type { SessionDefinition } from '../../../../../../shared/crawler/around/session.ts';
import { defineCrawler } from '../../../../../../shared/crawler/crawler.ts';
import type { RunOptions } from '../../../../../../shared/ports/runs.ts';
import { silentLog } from '../../../../../../shared/runtime/logger.ts';
import { FAST_RUN } from '../../../../../support/builders.ts';
import { passLoginTries, setup } from '../../setup.ts';

const SECRETS = { SHOP_USER: 'canary-user', SHOP_PASSWORD: 'canary pass/1' };

interface ShopOptions extends Partial<SessionDefinition> {
  readonly run?: Partial<RunOptions>;
}

/**
 * A shop whose pages are for customers.
 *
 * | path        | answers                                                                      |
 * |-------------|------------------------------------------------------------------------------|
 * | `/login`    | GET: a form with a hidden token, and a cookie that it belongs to; POST: 303 to `/home` with a session |
 * | `/home`     | `hello`, or 401                                                              |
 * | `/item/…`   | the session's number, or 401                                                 |
 * | `/never`    | 401                                                                          |
 */
async function shop({ run = {}, ...session }: ShopOptions = {}) {
  const crawler = defineCrawler({
    name: 'shop',
    secrets: Object.keys(SECRETS),
    session: {
      async login({ get, submit, secrets }) {
        const page = await submit(await get(site.url('/login')), {
          user: secrets.SHOP_USER ?? '',
          password: secrets.SHOP_PASSWORD ?? '',
        });
        if (page.text !== 'hello') throw new Error(`no entry for ${secrets.SHOP_USER} with ${secrets.SHOP_PASSWORD}`);
      },
      ...session,
    },
    steps: {
      item: { run: ({ page, emit }) => emit({ session: page.text }) },
      open: { session: false, run: ({ page, emit }) => emit({ open: page.text }) },
    },
    patterns: { open: '/open' },
  });
  const world = await setup({ crawler, run });
  const { site, runs } = world;
  const state = { sessions: 0, valid: new Set<string>(), isClosed: false, posts: [] as string[] };
  const sessionOf = (cookie = ''): string | undefined => {
    const id = /sid=(\w+)/.exec(cookie)?.[1];
    return id !== undefined && state.valid.has(id) ? id : undefined;
  };
  site.on('/login', async (request, response) => {
    if (request.method === 'GET') {
      const form =
        '<form method=post action="/login"><input type=hidden name=token value=t1><input name=user><input type=password name=password><button name=go value=1>Log in</button></form>';
      response.writeHead(200, { 'content-type': 'text/html', 'set-cookie': 'csrf=c1; Path=/' }).end(form);
      return;
    }
    let body = '';
    for await (const chunk of request) body += chunk;
    state.posts.push(`${body} ${request.headers.cookie}`);
    const form = new URLSearchParams(body);
    const isRight = form.get('password') === SECRETS.SHOP_PASSWORD && form.get('token') === 't1';
    if (state.isClosed || !isRight || request.headers.cookie !== 'csrf=c1') return void response.writeHead(403).end();
    state.sessions++;
    state.valid.add(`s${state.sessions}`);
    response.writeHead(303, { location: '/home', 'set-cookie': `sid=s${state.sessions}; Path=/; HttpOnly` }).end();
  });
  const answer = (path: string, textOf: (id: string) => string) =>
    site.on(path, ({ headers }, response) => {
      const id = sessionOf(headers.cookie);
      if (id === undefined) response.writeHead(401).end();
      else response.writeHead(200, { 'content-type': 'text/html' }).end(textOf(id));
    });
  answer('/home', () => 'hello');
  for (let n = 1; n <= 8; n++) answer(`/item/${n}`, (id) => id);
  site.on('/never', (_, response) => response.writeHead(401).end());
  site.on('/open', ({ headers }, response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end(headers.cookie ?? 'nothing'),
  );
  const directory = new RunDirectory({
    runs,
    crawlerNamed: () => ({ crawler, version: '01234567' }),
    defaults: FAST_RUN,
    log: silentLog,
    secretsOf: () => SECRETS,
  });
  const pipeline = world.pipeline({ runs: directory });
  const work = async () => {
    const deliveries = await world.deliveries();
    await Promise.all(deliveries.map((delivery) => pipeline.handle(delivery)));
    return deliveries.length;
  };
  const said = () => world.log.lines.join('\n');
  return { ...world, state, work, said };
}

test('one login serves all pages of a run, and leaves no secret in logs, records or the cache', async () => {
  const { offer, work, sink, state, site, said, cache } = await shop({ run: { dedup: 'run' } });
  await offer('/item/1', '/item/2', '/item/3');
  await work();
  await offer('/item/4');
  await work();
  expect(sink.records.map((record) => 'data' in record && record.data)).toEqual(Array(4).fill({ session: 's1' }));
  expect(state.posts).toEqual(['token=t1&user=canary-user&password=canary+pass%2F1&go=1 csrf=c1']);
  expect(said()).toContain('logged in');
  expect(said() + JSON.stringify(sink.records)).not.toMatch(/canary|sid=|csrf=/);
  expect(await cache.get(site.url('/item/1'))).toBe(undefined);
});

test('a step without a session is fetched without cookies and without a login', async () => {
  const { offer, work, sink, state, frontier, site } = await shop();
  const { host } = site;
  await frontier.offer('r', [
    { url: site.url('/open'), host, mark: `open ${site.url('/open')}`, step: 'open', depth: 0, queue: 'normal' },
  ]);
  await work();
  expect(sink.records).toMatchObject([{ data: { open: 'nothing' } }]);
  expect(state.sessions).toBe(0);
  await offer('/item/1');
  await work();
  expect(state.sessions).toBe(1);
});

test('expired answers cause one new login for all pages, without counting an attempt', async () => {
  const { offer, work, sink, state, runs } = await shop();
  await offer('/item/1');
  await work();
  state.valid.clear();
  await offer('/item/2', '/item/3', '/item/4');
  await work();
  expect(state.sessions).toBe(2);
  expect(sink.records.slice(1)).toMatchObject(Array(3).fill({ attempt: 1, data: { session: 's2' } }));
  expect(await runs.progress('r')).toMatchObject({ done: 4, failed: 0 });
});

test('a late answer that the previous session has ended does not end the new one', async () => {
  const { offer, work, state, site, runs } = await shop();
  await offer('/item/1');
  await work();
  state.valid.clear();
  site.on('/late', async ({ headers }, response) => {
    const isOld = headers.cookie?.includes('sid=s1') === true;
    if (isOld) await expect.poll(() => state.valid.has('s2')).toBe(true);
    response.writeHead(isOld ? 401 : 200, { 'content-type': 'text/html' }).end('late');
  });
  await offer('/item/2', '/late');
  await work();
  await work();
  expect(await runs.progress('r')).toMatchObject({ done: 3, failed: 0 });
  expect([site.count('/late'), state.sessions]).toEqual([2, 2]);
});

test('an async `isExpired` fails the page', async () => {
  const { offer, work, sink } = await shop({ isExpired: (async () => true) as never });
  await offer('/item/1');
  await work();
  const error =
    "crawler page, isExpired of its session: expected isExpired to say yes or no, got a promise: it can't be async";
  expect(sink.records).toMatchObject([{ outcome: 'failed', reason: 'step', error }]);
});

test('`isExpired` sees redirects, so the login page that a site redirects to is not requested', async () => {
  const { offer, work, sink, site, state } = await shop({
    isExpired: ({ status, headers }) => status === 302 && headers.location === '/login',
  });
  let isOver = true;
  site.on('/members', (_, response) => {
    if (isOver) response.writeHead(302, { location: '/login' }).end();
    else response.writeHead(200, { 'content-type': 'text/html' }).end('in');
    isOver = false;
  });
  await offer('/members');
  await work();
  expect(sink.records).toMatchObject([{ attempt: 1, data: { session: 'in' } }]);
  expect(sink.records[0]).not.toHaveProperty('redirects');
  expect(state.sessions).toBe(2);
});

test('a page that is still expired after a new login fails', async () => {
  const { offer, work, state, runs, letters } = await shop({ run: { maxAttempts: 1 } });
  await offer('/never');
  await work();
  expect(await runs.progress('r')).toMatchObject({ failed: 1, reasons: { failed: { step: 1 } } });
  expect((await letters())[0]?.error).toContain('says again that its session has ended, after a new login');
  expect(state.sessions).toBe(2);
});

test('a login is used until its `ttl` has passed', async () => {
  const { offer, work, state, clock } = await shop({ ttl: '10m' });
  for (const [path, ms] of [
    ['/item/1', 599_999],
    ['/item/2', 1],
    ['/item/3', 0],
  ] as const) {
    await offer(path);
    await work();
    clock.step(ms);
  }
  expect(state.sessions).toBe(2);
});

test('a login that fails three times pauses the run with the reason, and is tried again when the run is resumed', async () => {
  const { offer, work, state, runs, clock, said, sink, letters } = await shop();
  state.isClosed = true;
  await offer('/item/1', '/item/2');
  const worked = work();
  for (const [tries, ms] of [
    [1, 1_000],
    [2, 5_000],
  ] as const) {
    await expect.poll(() => state.posts.length).toBe(tries);
    await expect.poll(() => said().match(/tried again/g)?.length).toBe(tries);
    clock.step(ms);
  }
  await worked;
  await expect.poll(said).toContain('the run is paused');
  expect(state.posts).toHaveLength(3);
  const paused = await runs.progress('r');
  expect(paused).toMatchObject({ state: 'paused', waiting: 2, failed: 0 });
  expect(paused?.pauseReason).toMatch(
    /^its login failed 3 times: .*sessions\.test\.ts:\d+, its login: no entry for … with …/,
  );
  expect(said()).toContain('logins failed: the run is paused');
  expect(said() + paused?.pauseReason).not.toContain('canary');
  expect(await letters()).toEqual([]);
  state.isClosed = false;
  await runs.resume('r');
  clock.step(2_000);
  await work();
  expect(state.sessions).toBe(1);
  expect(sink.records).toMatchObject(Array(2).fill({ attempt: 1, data: { session: 's1' } }));
});

test('robots.txt holds for logins, and pages of a run paused by its login don’t try to log in', async () => {
  const { offer, deliveries, parts, runs, robots, clock, said, site, pipeline } = await shop({
    login: async ({ get }) => void (await get(site.url('/private/login'))),
  });
  const other = pipeline({ ...parts, robots: robots() });
  site.on('/robots.txt', (_, response) => response.writeHead(200).end('User-agent: *\nDisallow: /private'));
  await offer('/item/1', '/item/2');
  const [first, second] = await deliveries();
  if (first === undefined || second === undefined) throw new Error('nothing was released');
  const handled = other.handle(first);
  await passLoginTries(said, { clock });
  await handled;
  await expect.poll(said).toContain('the run is paused');
  expect((await runs.progress('r'))?.pauseReason).toContain('robots.txt forbids it');
  await other.handle(second);
  expect(said().match(/tried again/g)).toHaveLength(2);
  expect(site.count('/private/login')).toBe(0);
  expect(await runs.progress('r')).toMatchObject({ waiting: 2, inFlight: 0 });
});
