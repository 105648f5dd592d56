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
/** New pages requested between two kills. */
const EVERY = 5;

/** A fleet that has the examples, its site, and the records that it must make: those of a crawl in one process. */
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

/** The records of a run, without the fields that depend on the run, the worker or the time. */
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
  test('makes the same records as one process', { timeout: AFTER_A_KILL_MS }, async () => {
    const { expected, ...fleet } = await setup();
    await Promise.all(Array.from({ length: WORKERS }, () => startWorker(fleet)));
    await fleet.workplace.json(['produce', fleet.site.url('/all/'), '--run', 'spread', '--wait', ...SHOP]);
    expect(await recordsOf(fleet, 'spread')).toEqual(expected);
  });

  test('makes the same records as one process though a worker is killed ten times', {
    timeout: AFTER_A_KILL_MS,
  }, async () => {
    const { expected, ...fleet } = await setup();
    const { workplace, site } = fleet;
    const workers = await Promise.all(Array.from({ length: WORKERS }, () => startWorker(fleet)));
    const killed = killOnTheWay({ site, workers, start: () => startWorker(fleet), kills: KILLS, every: EVERY });
    await workplace.json(['produce', site.url('/all/'), '--run', 'killed', '--wait', ...SHOP]);
    expect(killed()).toBe(KILLS);
    expect(await recordsOf(fleet, 'killed')).toEqual(expected);
  });
});
