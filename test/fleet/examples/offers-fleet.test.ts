import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { AT_FULL_SPEED } from '../../support/full-speed.ts';
import { CUSTOMER } from '../../support/practice/account.ts';
import { example, servePractice } from '../../support/practice/open.ts';
import { openFleet } from '../../support/processes/fleet.ts';
import { AFTER_A_KILL_MS, killOnTheWay } from '../../support/processes/kills.ts';
import type { Trawl, Workplace } from '../../support/processes/trawl.ts';

const OFFERS = ['--crawler', 'offers', ...AT_FULL_SPEED];
const WORKERS = 3;
const KILLS = 6;
/** New pages requested between two kills. */
const EVERY = 12;

/** The records of joins, without the fields that depend on the run, the worker or the time. */
async function joinsOf(workplace: Workplace, run: string): Promise<unknown[]> {
  const records = await workplace.records(run, '--all', '--empty');
  return records
    .filter(({ step }) => step === 'offer' || step === 'report')
    .map(({ step, url, outcome, data }) => ({ step, url, outcome, data }))
    .toSorted((a, b) => `${a.step} ${a.url}`.localeCompare(`${b.step} ${b.url}`));
}

async function startWorker(workplace: Workplace): Promise<Trawl> {
  const worker = workplace.start(['work', ...AT_FULL_SPEED]);
  await worker.says(/consuming/);
  return worker;
}

test('three workers make the same offers as one process, though workers are killed', {
  timeout: AFTER_A_KILL_MS,
}, async () => {
  const { workplace, site } = await openFleet({}, { CRAWLERS_DIR: dirname(example('offers')), ...CUSTOMER });
  servePractice(site);
  await workplace.json(['crawl', site.url('/all/'), '--run', 'alone', ...OFFERS]);
  const expected = await joinsOf(workplace, 'alone');
  expect(expected).toHaveLength(41);
  site.reset();
  servePractice(site);
  const workers = await Promise.all(Array.from({ length: WORKERS }, () => startWorker(workplace)));
  const killed = killOnTheWay({ site, workers, start: () => startWorker(workplace), kills: KILLS, every: EVERY });
  const args = ['produce', site.url('/all/'), '--run', 'killed', '--wait', ...OFFERS];
  expect(await workplace.json(args)).toMatchObject({ failed: 0, openGroups: 0, steps: { offer: { discovered: 40 } } });
  expect(killed()).toBe(KILLS);
  expect(await joinsOf(workplace, 'killed')).toEqual(expected);
});
