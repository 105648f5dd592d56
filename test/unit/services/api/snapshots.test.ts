import { expect, onTestFinished, test } from 'vitest';
import type { Link, LinkedStores } from '../../../../services/api/link.ts';
import { Snapshots } from '../../../../services/api/snapshots.ts';
import { FAST_RUN } from '../../../support/builders.ts';
import { openLocalParts } from '../../../support/stores/local-parts.ts';
import { SteppedClock } from '../../../support/stores/stepped-clock.ts';
import { withMethods } from '../../../support/with-methods.ts';

/** More runs than are remembered at once. */
const MANY = 210;

/** Snapshots of a local store, some of whose methods the test replaces. */
function setup() {
  const clock = new SteppedClock();
  const { database, ...stores } = openLocalParts({ clock });
  onTestFinished(() => database.close());
  const open = (runs: typeof stores.runs, more: Partial<LinkedStores> = {}): Snapshots => {
    const link = {
      withStores: (action: (stores: LinkedStores) => Promise<unknown>) => action({ ...stores, runs, ...more } as never),
      watchStore: () => () => {},
    } as unknown as Link;
    return new Snapshots(link, clock, undefined);
  };
  return { clock, stores, open };
}

test('a store that hangs is read once, however many callers ask and however long it takes', async () => {
  const { clock, stores, open } = setup();
  const answered = Promise.withResolvers<void>();
  let asked = 0;
  const runs = withMethods(stores.runs, {
    counts: async () => {
      asked++;
      await answered.promise;
      return await stores.runs.counts();
    },
  });
  const snapshots = open(runs);
  const answers = [snapshots.fleet()];
  for (let second = 0; second < 20; second++) {
    clock.step(1_000);
    answers.push(snapshots.fleet());
  }
  expect(asked).toBe(1);
  answered.resolve();
  expect(new Set(await Promise.all(answers)).size).toBe(1);
  await snapshots.fleet();
  expect(asked).toBe(2);
});

test('runs that nobody asks for any more are forgotten, even if something changes now and then', async () => {
  const { stores, open } = setup();
  const hostsRead: string[] = [];
  const runs = withMethods(stores.runs, {
    hosts: (run, limit) => {
      hostsRead.push(run);
      return stores.runs.hosts(run, limit);
    },
  });
  const snapshots = open(runs);
  const ids = Array.from({ length: MANY }, (_, n) => `r${n}`);
  for (const run of ids) await runs.open(run, FAST_RUN, 'p');
  for (const run of ids) {
    await snapshots.run(run);
    snapshots.forget();
  }
  // A watcher would remember the run's hosts for as long as the clock stands still.
  await snapshots.run('r0');
  expect(hostsRead.filter((run) => run === 'r0')).toHaveLength(2);
});

test('the workers are read once a second for all runs, since the entries of hundreds of workers take megabytes', async () => {
  const { clock, stores, open } = setup();
  const { runs, hosts } = stores;
  let [workers, oldestDue] = [0, 0];
  const roster = withMethods(stores.roster, {
    workers: () => {
      workers++;
      return stores.roster.workers();
    },
  });
  const countedHosts = withMethods(hosts, {
    oldestDueMs: () => {
      oldestDue++;
      return hosts.oldestDueMs();
    },
  });
  const snapshots = open(runs, { roster, hosts: countedHosts });
  const ids = Array.from({ length: 50 }, (_, n) => `r${n}`);
  for (const run of ids) await runs.open(run, FAST_RUN, 'p');
  const lookAtAll = () => Promise.all([snapshots.fleet(), ...ids.map((run) => snapshots.run(run))]);
  await lookAtAll();
  expect([workers, oldestDue]).toEqual([1, 1]);
  await lookAtAll();
  expect([workers, oldestDue], 'within the second').toEqual([1, 1]);
  clock.step(1_000);
  await lookAtAll();
  expect([workers, oldestDue], 'a second later').toEqual([2, 2]);
});
