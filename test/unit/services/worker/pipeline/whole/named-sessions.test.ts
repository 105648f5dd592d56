import { expect, test } from 'vitest';
import { RunDirectory } from '../../../../../../services/worker/run-directory.ts';
import { defineCrawler } from '../../../../../../shared/crawler/crawler.ts';
import { silentLog } from '../../../../../../shared/runtime/logger.ts';
import { FAST_RUN } from '../../../../../support/builders.ts';
import { setup } from '../../setup.ts';

/** A market where `/login/NAME` sets a cookie with the name and `/page/N` echoes it. The logins in `closed` answer 403. */
async function market(closed: readonly string[] = []) {
  const login =
    (name: string) =>
    async ({ get }: { get: (url: string) => Promise<{ status: number }> }) => {
      const { status } = await get(site.url(`/login/${name}`));
      if (status !== 200) throw new Error(`no entry for ${name}`);
    };
  const crawler = defineCrawler({
    name: 'market',
    session: { login: login('guest') },
    sessions: {
      buyer: { login: login('buyer'), isExpired: ({ status }) => status === 410 },
      seller: { login: login('seller') },
    },
    steps: {
      list: {
        to: ['bought', 'sold', 'open'],
        run({ page, follow, emit }) {
          emit(page.text);
          for (const step of ['bought', 'sold', 'open'] as const) follow(step, '/page/2');
        },
      },
      bought: {
        session: 'buyer',
        run({ page, emit, download }) {
          emit(page.text);
          download('/page/3');
        },
      },
      sold: { session: 'seller', run: ({ page, emit }) => emit(page.text) },
      open: { session: false, run: ({ page, emit }) => emit(page.text) },
    },
  });
  const world = await setup({ crawler });
  const { site, runs, sink } = world;
  const state = { logins: [] as string[], expired: '' };
  for (const name of ['guest', 'buyer', 'seller'])
    site.on(`/login/${name}`, (_, response) => {
      state.logins.push(name);
      if (state.expired === name) state.expired = '';
      const headers = { 'content-type': 'text/html', 'set-cookie': `who=${name}; Path=/` };
      response.writeHead(closed.includes(name) ? 403 : 200, headers).end();
    });
  for (const n of [1, 2, 3])
    site.on(`/page/${n}`, ({ headers }, response) => {
      const who = headers.cookie?.replace('who=', '') ?? 'nobody';
      response.writeHead(who === state.expired ? 410 : 200, { 'content-type': 'text/html' }).end(who);
    });
  const crawlerNamed = () => ({ crawler, version: '01234567' });
  const pipeline = world.pipeline({
    runs: new RunDirectory({ runs, crawlerNamed, defaults: FAST_RUN, log: silentLog }),
  });
  const work = async (): Promise<void> => {
    await Promise.all((await world.deliveries()).map((delivery) => pipeline.handle(delivery)));
  };
  const made = () => Object.fromEntries(sink.records.map((record) => [record.step, 'data' in record && record.data]));
  return { ...world, state, work, made };
}

test('each step is fetched in the session it names, with one login each, and a file in that of its step', async () => {
  const { offer, work, made, state, site, log } = await market();
  await offer('/page/1');
  for (let i = 0; i < 3; i++) await work();
  expect(made()).toMatchObject({ list: 'guest', bought: 'buyer', sold: 'seller', open: 'nobody' });
  expect(state.logins.toSorted()).toEqual(['buyer', 'guest', 'seller']);
  const file = site.requests.filter(({ path }) => path === '/page/3');
  expect(file.map(({ headers }) => headers.cookie)).toEqual(['who=buyer']);
  expect(log.lines.filter((line) => line.includes('logged in'))).toEqual([
    'info: logged in r market',
    'info: logged in r market buyer',
    'info: logged in r market seller',
  ]);
});

test('an expired session is renewed by its own login only', async () => {
  const { offer, work, made, state, sink } = await market();
  await offer('/page/1');
  await work();
  await work();
  state.expired = 'buyer';
  await work();
  expect(made()).toMatchObject({ download: { bytes: 'buyer'.length } });
  expect(state.logins.toSorted()).toEqual(['buyer', 'buyer', 'guest', 'seller']);
  for (const record of sink.records) expect(record).toMatchObject({ outcome: 'done', attempt: 1 });
});

test('the pause reason names the login that failed', async () => {
  const { offer, work, runs, clock } = await market(['seller']);
  await offer('/page/1');
  await work();
  const working = work();
  await expect
    .poll(async () => {
      clock.step(5_000);
      return (await runs.progress('r'))?.pauseReason;
    })
    .toMatch(/^its login failed 3 times: .*, its login seller: no entry for seller$/);
  await working;
});

const at = { run() {} };
const session = { login() {} };

// biome-ignore format: a table
test.each<[object, string]>([
  [{ steps: { a: { ...at, session: 'buyr' } }, sessions: { buyer: session } }, 'step a: expected session to be false or the name of one of `sessions`, got buyr: did you mean buyer?'],
  [{ steps: { a: { ...at, session: 'buyer' } } },                               'step a: expected session to be false or the name of one of `sessions`, got buyer: its crawler has no `sessions`'],
  [{ steps: { a: { ...at, session: true } }, session },                         'step a: expected session to be false or the name of one of `sessions`, got true'],
  [{ steps: { a: at }, sessions: { buyer: session } },                          "session buyer is used by no step: set session: 'buyer' in one, or define it as `session` for all"],
  [{ steps: { a: { ...at, session: 'b' } }, sessions: { b: {} } },              'session b: expected login to be a function'],
  [{ steps: { a: { ...at, session: 'b c' } }, sessions: { 'b c': session } },   'session b c: expected a name of letters, digits and hyphens'],
  [{ steps: { a: at }, sessions: [session] },                                   'expected sessions to be logins by their names: { buyer: { login } }'],
])('the definition %j is refused', (definition, problem) => {
  expect(() => defineCrawler({ name: 'x', ...definition } as never)).toThrow(`crawler x: ${problem}`);
});

test('a step that names an unknown session is a type error', () => {
  const define = () =>
    defineCrawler({
      name: 'x',
      sessions: { buyer: { login() {} } },
      steps: {
        a: { to: ['b'], session: 'buyer', run: ({ follow }) => follow('b', '/b') },
        // @ts-expect-error there is no session of that name
        b: { session: 'seller', run() {} },
      },
    });
  expect(define).toThrow('got seller: there are buyer');
  // @ts-expect-error the crawler has no sessions
  expect(() => defineCrawler({ name: 'x', steps: { a: { session: 'buyer', run() {} } } })).toThrow('has no `sessions`');
});
