import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { AT_FULL_SPEED } from '../../support/full-speed.ts';
import { CUSTOMER } from '../../support/practice/account.ts';
import { example, servePractice } from '../../support/practice/open.ts';
import { type Fleet, openFleet } from '../../support/processes/fleet.ts';
import { AFTER_A_KILL_MS, killOnTheWay } from '../../support/processes/kills.ts';
import type { Trawl } from '../../support/processes/trawl.ts';

const SHOP = ['--crawler', 'shop', ...AT_FULL_SPEED];
const WORKERS = 3;
const KILLS = 10;
/** New pages asked for between two kills. */
const EVERY = 5;

/** A fleet that has the examples, its site, and what a crawl in one process makes of that: what the fleet is to make of it, too. */
async function setup() {
  const fleet = await openFleet({}, { CRAWLERS_DIR: dirname(example('shop')), ...CUSTOMER });
  const { workplace, site } = fleet;
  servePractice(site);
  await workplace.json(['crawl', site.url('/all/'), '--run', 'alone', ...SHOP]);
  const expected = await recordsOf(fleet, 'alone');
  expect(expected.length).toBe(site.requests.length);
  site.reset();
  servePractice(site);
  return { ...fleet, expected };
}

/** The records of a run, without what is of the run, and by whom and when. */
async function recordsOf({ workplace }: Pick<Fleet, 'workplace'>, run: string): Promise<unknown[]> {
  const records = await workplace.records(run, '--all', '--empty');
  return records
    .map(({ crawler, step, url, depth, outcome, reason, status, title, contentHash, data, items }) => {
      return { crawler, step, url, depth, outcome, reason, status, title, contentHash, data, items };
    })
    .toSorted((a, b) => a.url.localeCompare(b.url));
}

async function startWorker({ workplace }: Pick<Fleet, 'workplace'>): Promise<Trawl> {
  const worker = workplace.start(['work', ...AT_FULL_SPEED]);
  await worker.says(/consuming/);
  return worker;
}

describe('the shop on three workers', () => {
  test('has the records that one process makes', { timeout: AFTER_A_KILL_MS }, async () => {
    const { expected, ...fleet } = await setup();
    await Promise.all(Array.from({ length: WORKERS }, () => startWorker(fleet)));
    await fleet.workplace.json(['produce', fleet.site.url('/all/'), '--run', 'spread', '--wait', ...SHOP]);
    expect(await recordsOf(fleet, 'spread')).toEqual(expected);
  });

  test('has them though a worker is killed ten times on the way', { timeout: AFTER_A_KILL_MS }, async () => {
    const { expected, ...fleet } = await setup();
    const { workplace, site } = fleet;
    const workers = await Promise.all(Array.from({ length: WORKERS }, () => startWorker(fleet)));
    const killed = killOnTheWay({ site, workers, start: () => startWorker(fleet), kills: KILLS, every: EVERY });
    await workplace.json(['produce', site.url('/all/'), '--run', 'killed', '--wait', ...SHOP]);
    expect(killed()).toBe(KILLS);
    expect(await recordsOf(fleet, 'killed')).toEqual(expected);
  });
});
