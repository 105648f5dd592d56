import Fastify from 'fastify';
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod';
import { expect, onTestFinished, test } from 'vitest';
import { LetterBrowser } from '../../../../services/api/letter-browser.ts';
import type { Link, LinkedStores } from '../../../../services/api/link.ts';
import type { Api, ApiParts } from '../../../../services/api/parts.ts';
import { addUrlRoutes } from '../../../../services/api/routes/urls.ts';
import { whileThere } from '../../../../services/api/while-there.ts';
import { MOST_RUNS_OF_URL } from '../../../../shared/control/urls/url-marks.ts';
import { nameOf } from '../../../../shared/ports/frontier/frontier.ts';
import type { DeadLetters } from '../../../../shared/ports/transport.ts';
import { settingsFrom } from '../../../../shared/settings/settings.ts';
import { FAST_RUN } from '../../../support/builders.ts';
import { letterOf } from '../../../support/stores/letters.ts';
import { openLocalParts } from '../../../support/stores/local-parts.ts';
import { SteppedClock } from '../../../support/stores/stepped-clock.ts';
import { withMethods } from '../../../support/with-methods.ts';

/** Looks up URLs over HTTP. */
function openRoutes(link: Link, clock: SteppedClock) {
  const app = Fastify() as unknown as Api;
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  const settings = settingsFrom({ flag: {}, environment: {}, file: {} });
  addUrlRoutes(app, { link, settings, letters: new LetterBrowser(link, clock) } as unknown as ApiParts);
  onTestFinished(() => app.close());
  return async (url: string) => (await app.inject(`/api/urls?url=${encodeURIComponent(url)}`)).json();
}

test('concurrent look-ups share one browse of the dead letters', async () => {
  const clock = new SteppedClock();
  const { database, letters: kept, ...stores } = openLocalParts({ clock });
  onTestFinished(() => database.close());
  await kept.keep([letterOf('http://a.test/1', { at: clock.now() }), letterOf('http://a.test/2', { at: clock.now() })]);
  let browses = 0;
  const counted = withMethods(kept, {
    browse: (limit) => {
      browses++;
      return kept.browse(limit);
    },
  });
  const link = {
    withStores: (action: (stores: LinkedStores) => Promise<unknown>) => action(stores as unknown as LinkedStores),
    withLetters: (action: (letters: DeadLetters) => Promise<unknown>) => action(counted),
  } as unknown as Link;
  const lookUp = openRoutes(link, clock);
  const lettersOf = async (url: string): Promise<unknown> => (await lookUp(url)).letters;
  const found = await Promise.all(['http://a.test/1', 'http://a.test/2', 'http://a.test/3'].map(lettersOf));
  expect(found).toMatchObject([[{ url: 'http://a.test/1' }], [{ url: 'http://a.test/2' }], []]);
  expect(browses).toBe(1);
});

test('for a page whose record is elsewhere, the answer has the verdict of robots.txt, unless its run ignores that', async () => {
  const clock = new SteppedClock();
  const { database, letters: _, ...stores } = openLocalParts({ clock });
  onTestFinished(() => database.close());
  const url = 'http://a.test/private/1';
  await stores.robots.keep('http://a.test', { allow: [], disallow: ['/private/'] }, 60_000);
  for (const [run, robots] of [
    ['obeys', undefined],
    ['ignores', 'ignore'],
  ] as const) {
    await stores.runs.open(run, { ...FAST_RUN, ...(robots === undefined ? {} : { robots }) }, 'p');
    await stores.frontier.offer(run, [{ url, mark: url, host: 'a.test', step: '', depth: 0, queue: 'normal' }]);
    const { tasks } = await stores.frontier.release({ limit: 1, window: 1_000, unpaced: false });
    for (const released of tasks)
      await stores.frontier.settle(run, nameOf(released), { outcome: { kind: 'skipped', reason: 'robots' } });
  }
  const link = {
    withStores: (action: (stores: LinkedStores) => Promise<unknown>) => action(stores as unknown as LinkedStores),
    withLetters: () => Promise.resolve([]),
  } as unknown as Link;
  const { runs } = await openRoutes(link, clock)(url);
  const forbidden = 'robots.txt forbids it (User-agent: *, Disallow: /private/)';
  expect(
    Object.fromEntries(runs.map((each: { run: string; forbidden?: string }) => [each.run, each.forbidden])),
  ).toEqual({
    obeys: forbidden,
    ignores: undefined,
  });
});

test('a URL is found in the oldest of many runs, and the answer says if older ones were not searched', async () => {
  const clock = new SteppedClock();
  const { database, letters: _, ...stores } = openLocalParts({ clock });
  onTestFinished(() => database.close());
  const url = 'http://a.test/1';
  await stores.runs.open('oldest', FAST_RUN, 'p');
  await stores.frontier.offer('oldest', [{ url, mark: url, host: 'a.test', step: '', depth: 0, queue: 'normal' }]);
  const newer = Array.from({ length: MOST_RUNS_OF_URL }, (_, n) => `run-${n}`);
  let listed = ['oldest'];
  const runs = withMethods(stores.runs, { list: async (limit) => listed.slice(0, limit) });
  const link = {
    withStores: (action: (stores: LinkedStores) => Promise<unknown>) =>
      action({ ...stores, runs } as unknown as LinkedStores),
    withLetters: () => Promise.resolve([]),
  } as unknown as Link;
  const lookUp = openRoutes(link, clock);
  expect(await lookUp(url)).toMatchObject({ runs: [{ run: 'oldest' }], truncated: false });
  listed = [...newer.slice(0, 1_000), 'oldest'];
  expect(await lookUp(url)).toMatchObject({ runs: [{ run: 'oldest', place: { at: 'waiting' } }], truncated: false });
  listed = [...newer, 'oldest'];
  expect(await lookUp(url)).toMatchObject({ runs: [], truncated: true });
});

test('letters that do not come in time are reported, and the rest of the answer is complete', async () => {
  const clock = new SteppedClock();
  const { database, letters: _, ...stores } = openLocalParts({ clock });
  onTestFinished(() => database.close());
  const { signal } = new AbortController();
  const link = {
    withStores: (action: (stores: LinkedStores) => Promise<unknown>, { takesLong = false } = {}) =>
      whileThere(action(stores as unknown as LinkedStores), {
        service: 'Redis',
        lost: signal,
        withinMs: takesLong ? undefined : 20,
      }),
    withLetters: () => whileThere(new Promise(() => {}), { service: 'RabbitMQ', lost: signal, withinMs: 40 }),
  } as unknown as Link;
  expect(await openRoutes(link, clock)('http://a.test/1')).toMatchObject({
    known: false,
    letters: null,
    lettersProblem: 'RabbitMQ did not answer in time',
  });
});
