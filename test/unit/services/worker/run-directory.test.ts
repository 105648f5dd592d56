import { expect, test } from 'vitest';
import { RunDirectory } from '../../../../services/worker/run-directory.ts';
import { defineCrawler } from '../../../../shared/crawler/trawl.ts';
import type { Runs } from '../../../../shared/ports/runs.ts';
import type { JoinPlan } from '../../../../shared/task/group/plan.ts';
import { FAST_RUN } from '../../../support/builders.ts';

const offers = defineCrawler({
  name: 'offers',
  steps: { product: { to: ['price'], run() {} }, price: { run() {} } },
  joins: { offer: { per: 'product', of: ['product', 'price'], run() {} } },
});

/** A directory of a process whose crawler is `offers`, and a run opened with these joins, as read back from a store. */
function setup(joins: JoinPlan | undefined) {
  const options = JSON.parse(JSON.stringify({ ...FAST_RUN, crawler: 'offers', joins }));
  const runs = { progress: async () => ({ incarnation: 'i', options }) } as unknown as Runs;
  const said: object[] = [];
  const directory = new RunDirectory({
    ...{ runs, defaults: FAST_RUN, crawlerNamed: () => ({ crawler: offers, version: '01234567' }) },
    log: { warn: (fields) => void said.push(fields) },
  });
  return { directory, said };
}

test('a worker warns once if the joins of its crawler differ from those the run began with', async () => {
  const { directory, said } = setup(undefined);
  await directory.find('r');
  await directory.find('r');
  expect(said).toEqual([{ run: 'r', changed: 'offer, price' }]);
});

test('a worker whose crawler has the same joins as the run warns of nothing', async () => {
  const { directory, said } = setup(offers.joinPlan);
  await directory.find('r');
  expect(said).toEqual([]);
});
