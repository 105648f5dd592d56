import { expect, onTestFinished, test } from 'vitest';
import type { Link, LinkedStores } from '../../../../services/api/link.ts';
import { Snapshots } from '../../../../services/api/snapshots.ts';
import { FAST_RUN } from '../../../support/builders.ts';
import { openLocalParts } from '../../../support/stores/local-parts.ts';
import { SteppedClock } from '../../../support/stores/stepped-clock.ts';
import { withMethods } from '../../../support/with-methods.ts';

/** More than are watched at once. */
const MANY = 210;

test('runs that nobody looks at any more are forgotten, also if something is changed every now and then', async () => {
  const clock = new SteppedClock();
  const { database, ...stores } = openLocalParts({ clock });
  onTestFinished(() => database.close());
  const hostsRead: string[] = [];
  const runs = withMethods(stores.runs, {
    hosts: (run, limit) => {
      hostsRead.push(run);
      return stores.runs.hosts(run, limit);
    },
  });
  const counting = { ...stores, runs } as unknown as LinkedStores;
  const link = {
    withStores: (action: (stores: LinkedStores) => Promise<unknown>) => action(counting),
    watchStore: () => () => {},
  } as unknown as Link;
  const snapshots = new Snapshots(link, clock, undefined);
  const ids = Array.from({ length: MANY }, (_, n) => `r${n}`);
  for (const run of ids) await runs.open(run, FAST_RUN, 'p');
  for (const run of ids) {
    await snapshots.run(run);
    snapshots.forget();
  }
  // What watched it would remember its hosts for as long as the clock stands.
  await snapshots.run('r0');
  expect(hostsRead.filter((run) => run === 'r0')).toHaveLength(2);
});
