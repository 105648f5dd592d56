import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { pageOfRuns } from '../../../../services/api/run-pages.ts';
import { systemClock } from '../../../../shared/runtime/clock.ts';
import { SteadyClock } from '../../../../shared/stores/sqlite/steady-clock.ts';
import { FAST_RUN } from '../../../support/builders.ts';
import { openLocalParts } from '../../../support/stores/local-parts.ts';
import { openApi } from './setup.ts';

test('a list continues beyond the runs that one request searches', { timeout: 60_000 }, async () => {
  const { ask, folder } = await openApi();
  await ask('/api/fleet');
  const path = join(folder, 'trawl.sqlite');
  const { runs, database } = openLocalParts({ clock: new SteadyClock(systemClock), path, gatherMs: 5 });
  onTestFinished(() => database.close());
  await runs.open('oldest', FAST_RUN, 'p');
  await runs.pause('oldest', 'a test');
  const ids = Array.from({ length: 2_004 }, (_, n) => `run-${n}`);
  await Promise.all(ids.map((run) => runs.open(run, FAST_RUN, 'p')));
  const first = (await ask('/api/runs?state=paused')).json;
  expect(first).toEqual({ runs: [], next: expect.any(String) });
  expect((await ask(`/api/runs?state=paused&cursor=${first.next}`)).json).toMatchObject({
    runs: [{ run: 'oldest', state: 'paused' }],
    next: null,
  });
  const rest = (await ask(`/api/runs?cursor=${first.next}`)).json;
  expect([rest.runs.length, rest.runs.at(-1).run, rest.next]).toEqual([5, 'oldest', null]);
  const named = (await ask('/api/runs?contains=ldes')).json;
  expect([named.runs.map(({ run }: { run: string }) => run), named.next]).toEqual([['oldest'], null]);
});

test('runs that begin or are forgotten between two pages shift none', async () => {
  const ids = ['e', 'd', 'c', 'b', 'a'];
  const runs = { list: async (limit: number) => ids.slice(0, limit), standing: async () => undefined };
  const query = { state: undefined, contains: undefined, limit: 2 };
  const first = await pageOfRuns(runs, { ...query, cursor: undefined });
  ids.unshift('g', 'f');
  const second = await pageOfRuns(runs, { ...query, cursor: first.next ?? '' });
  // Also the one that a page ended with.
  ids.splice(ids.indexOf('b'), 1);
  const third = await pageOfRuns(runs, { ...query, cursor: second.next ?? '' });
  expect([first.page, second.page, third]).toEqual([['e', 'd'], ['c', 'b'], { page: ['a'], next: null }]);
});

test.each([
  ['no base64 of JSON', 'x'],
  ['a place before all', Buffer.from('[-1,"a"]').toString('base64url')],
])('an invalid cursor is refused: %s', async (_, cursor) => {
  const { ask } = await openApi();
  expect((await ask(`/api/runs?cursor=${cursor}`)).status).toBe(400);
});
