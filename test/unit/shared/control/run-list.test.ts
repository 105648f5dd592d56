import { expect, test } from 'vitest';
import { MOST_OPEN, NEWEST, RunLister } from '../../../../shared/control/run-list.ts';
import { FAST_RUN } from '../../../support/builders.ts';
import { openEmbedded } from '../../../support/stores/embedded.ts';
import { withMethods } from '../../../support/with-methods.ts';

function setup() {
  const stores = openEmbedded();
  const { clock, runs } = stores;
  return {
    ...stores,
    /** Opens a run, a second after the one before; it ends at once if it is to. */
    async open(run: string, how: 'open' | 'ended'): Promise<void> {
      clock.step(1_000);
      await runs.open(run, FAST_RUN, 'p');
      if (how === 'ended') await runs.seal(run);
    },
    look: async () => {
      const { views, counts } = await new RunLister(stores).look();
      return { ...counts, named: views.map(({ progress }) => progress.run) };
    },
  };
}

test('no runs, none named', async () => {
  expect(await setup().look()).toEqual({ known: 0, open: 0, named: [] });
});

test('an open run is named however many have come and ended since, and the newest are, newest first', async () => {
  const { open, look } = setup();
  await open('old-open', 'open');
  for (let i = 1; i <= 30; i++) await open(`run-${i}`, i === 29 ? 'open' : 'ended');
  const newest = Array.from({ length: NEWEST }, (_, i) => `run-${30 - i}`);
  expect(await look()).toEqual({ known: 31, open: 2, named: [...newest, 'old-open'] });
});

test('of very many open runs the last are named, and all are counted', async () => {
  const { open, look } = setup();
  for (let i = 1; i <= MOST_OPEN + 5; i++) await open(`run-${i}`, 'open');
  const { known, open: count, named } = await look();
  expect([known, count, named.length]).toEqual([MOST_OPEN + 5, MOST_OPEN + 5, MOST_OPEN]);
  expect([named.at(0), named.at(-1)]).toEqual([`run-${MOST_OPEN + 5}`, 'run-6']);
});

test('how full the store is, is asked once a look, and only if a producer has offered nothing', async () => {
  const { open, runs, roster, hosts, clock } = setup();
  let asked = 0;
  const memory = {
    memory: async () => {
      asked++;
      return { usedBytes: 9, limitBytes: 10 };
    },
  };
  const lister = new RunLister({ clock, roster, hosts, runs, memory });
  await open('run-1', 'ended');
  await lister.look();
  expect(asked).toBe(0);
  for (const run of ['run-2', 'run-3']) await open(run, 'open');
  const sentences = (await lister.look()).views.map(({ bottleneck }) => bottleneck.sentence);
  expect([asked, sentences.filter((each) => each.startsWith('Redis uses 90 %')).length]).toEqual([1, 2]);
  await lister.look();
  expect(asked).toBe(2);
});

test('workers and due hosts are asked for once, however many runs there are; the hosts of those that have ended, never', async () => {
  const { open, roster, runs, hosts, clock } = setup();
  const asked = { workers: 0, due: 0, hosts: [] as string[] };
  for (let i = 1; i <= 15; i++) await open(`run-${i}`, i % 5 === 0 ? 'open' : 'ended');
  const lister = new RunLister({
    clock,
    roster: withMethods(roster, {
      workers: () => {
        asked.workers++;
        return roster.workers();
      },
    }),
    hosts: withMethods(hosts, {
      oldestDueMs: () => {
        asked.due++;
        return hosts.oldestDueMs();
      },
    }),
    runs: withMethods(runs, {
      hosts: (run, limit) => {
        asked.hosts.push(run);
        return runs.hosts(run, limit);
      },
    }),
  });
  await lister.look();
  expect([asked.workers, asked.due, asked.hosts.toSorted()]).toEqual([1, 1, ['run-10', 'run-15', 'run-5']]);
});
