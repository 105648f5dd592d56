import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../../shared/runtime/clock.ts';
import { SteadyClock } from '../../../../shared/stores/sqlite/steady-clock.ts';
import { FAST_RUN } from '../../../support/builders.ts';
import { openLocalParts } from '../../../support/stores/local-parts.ts';
import { openApi } from './setup.ts';

test('a list goes on past the runs that one request looks through', { timeout: 60_000 }, async () => {
  const { ask, folder } = await openApi();
  await ask('/api/fleet');
  const path = join(folder, 'trawl.sqlite');
  const { runs, database } = openLocalParts({ clock: new SteadyClock(systemClock), path, gatherMs: 5 });
  onTestFinished(() => database.close());
  await runs.open('oldest', FAST_RUN, 'p');
  await runs.pause('oldest', 'a test');
  const ids = Array.from({ length: 2_004 }, (_, n) => `run-${n}`);
  await Promise.all(ids.map((run) => runs.open(run, FAST_RUN, 'p')));
  const [first, last] = [(await ask('/api/runs?state=paused')).json, (await ask('/api/runs?cursor=1950')).json];
  expect(first).toEqual({ runs: [], next: 2_000 });
  expect((await ask(`/api/runs?state=paused&cursor=${first.next}`)).json).toMatchObject({
    runs: [{ run: 'oldest', state: 'paused' }],
    next: null,
  });
  expect([last.runs.length, last.next]).toEqual([50, 2_000]);
  const rest = (await ask(`/api/runs?cursor=${last.next}`)).json;
  expect([rest.runs.length, rest.runs.at(-1).run, rest.next]).toEqual([5, 'oldest', null]);
});
