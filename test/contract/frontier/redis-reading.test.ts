import { expect, test } from 'vitest';
import { RunLister } from '../../../shared/control/run-list.ts';
import { RunWatcher } from '../../../shared/control/run-watcher.ts';
import { RedisFrontier } from '../../../shared/stores/redis/frontier.ts';
import { RedisHostGate } from '../../../shared/stores/redis/host-gate.ts';
import { RedisHostOverview } from '../../../shared/stores/redis/host-overview.ts';
import { RedisRoster } from '../../../shared/stores/redis/roster.ts';
import { RedisRuns } from '../../../shared/stores/redis/runs.ts';
import { FAST_RUN } from '../../support/builders.ts';
import { POLICY } from '../../support/policy.ts';
import { openPrivateRedis } from '../../support/servers/private-redis.ts';
import { offerAll } from '../../support/stores/offer-all.ts';
import { SteppedClock } from '../../support/stores/stepped-clock.ts';
import { page } from '../suites/frontier/frontier-setup.ts';

/**
 * Counts the commands that reading costs Redis, those inside scripts included. The cost must not grow with the number of
 * hosts of a run or the number of ended runs.
 */
async function setup() {
  const { redis } = await openPrivateRedis();
  const prefix = '';
  const clock = new SteppedClock();
  const runs = new RedisRuns({ redis, prefix, marks: 'exact' });
  const frontier = new RedisFrontier({ redis, prefix, policy: POLICY });
  const gate = new RedisHostGate({ redis, prefix });
  const hosts = new RedisHostOverview({ redis, prefix });
  const roster = new RedisRoster({ redis, prefix });

  /** Returns how many scripts and commands a query costs, commands inside scripts included. */
  async function costOf(ask: () => Promise<unknown>): Promise<{ commands: number; scripts: number }> {
    await ask();
    await redis.config('RESETSTAT');
    await ask();
    const info = await redis.info('commandstats');
    const calls = Array.from(
      info.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm),
      ([, name, n]) => [name, Number(n)] as const,
    );
    const sum = (which: (name: string) => boolean): number =>
      calls.reduce((total, [name = '', n]) => (which(name) ? total + n : total), 0);
    const isScript = (name: string): boolean => name.startsWith('eval');
    return { scripts: sum(isScript), commands: sum((name) => !isScript(name) && !/^(config|info)/.test(name)) };
  }

  return {
    ...{ runs, frontier, gate, hosts, roster, clock, costOf },
    /** Opens a run with one task waiting at each of this many hosts. */
    async fill(run: string, count: number): Promise<void> {
      await runs.open(run, FAST_RUN, 'p');
      const offers = Array.from({ length: count }, (_, i) => page(1, `h${i}.${run}.test`));
      await offerAll(frontier, run, offers);
    },
  };
}

test('reading a run of 20,000 hosts costs no more commands than one of 1,000', async () => {
  const { runs, gate, hosts, roster, clock, fill, costOf } = await setup();
  const sizes = { small: 1_000, large: 20_000 };
  for (const [run, size] of Object.entries(sizes)) await fill(run, size);
  for (let i = 0; i < 500; i++) await gate.pause(`h${i}.large.test`, 60_000, 'HTTP 429');
  for (const mostHosts of [100, 1_000]) {
    const looking = (run: string) => costOf(() => new RunWatcher({ run, runs, roster, clock, mostHosts }).look());
    const { commands, scripts } = await looking('large');
    expect({ commands, scripts }).toEqual(await looking('small'));
    // A script reads 100 hosts at most, since a few hundred commands take half a millisecond.
    expect(scripts, 'the counters, the workers, and the hosts in parts').toBe(2 + Math.ceil(mostHosts / 100));
    expect(commands / scripts).toBeLessThan(500);
  }
  expect(await costOf(() => runs.standing('large')), 'asked twenty times a second').toEqual({
    commands: 1,
    scripts: 0,
  });
  expect((await costOf(() => hosts.due())).commands).toBeLessThan(10);
  expect((await costOf(() => hosts.paused(20))).commands).toBeLessThan(30);
  expect((await costOf(() => hosts.pausedCount())).commands).toBeLessThan(5);
  const { commands, scripts } = await costOf(() => hosts.paused(20_000));
  expect(scripts, '500 are paused, and one script reads 100').toBe(6);
  expect(commands / scripts).toBeLessThan(120);
});

test('listing runs costs nothing for ended ones, and a bounded number of small scripts for open ones', async () => {
  const { runs, roster, hosts, clock, fill, costOf } = await setup();
  const list = () => costOf(() => new RunLister({ runs, roster, hosts, clock }).look());
  const idle = () => costOf(() => runs.counts());
  for (let i = 0; i < 30; i++) await fill(`open-${i}`, 50);
  // The name orders runs opened in the same millisecond. These names sort after those of the open runs.
  for (let i = 0; i < 20; i++) await runs.open(`past-${i}`, FAST_RUN, 'p').then(() => runs.seal(`past-${i}`));
  const [before, idleBefore] = [await list(), await idle()];
  for (let i = 20; i < 400; i++) await runs.open(`past-${i}`, FAST_RUN, 'p').then(() => runs.seal(`past-${i}`));
  expect(await list()).toEqual(before);
  expect(await idle()).toEqual(idleBefore);
  expect(idleBefore.scripts).toBe(1);
  expect(idleBefore.commands).toBeLessThan(6);
  expect(before.scripts, 'the counts, the due hosts, and two for each run that is open').toBeLessThan(
    1 + 20 + 30 * 2 + 5,
  );
  expect(before.commands / before.scripts).toBeLessThan(100);
});

test('the due hosts of many open runs are counted in parts, none of which keeps Redis busy for long', async () => {
  const { hosts, fill, costOf } = await setup();
  const runs = Array.from({ length: 900 }, (_, i) => `open-${i}`);
  await Promise.all(runs.map((run) => fill(run, 2)));
  expect(await hosts.due()).toBe(1_800);
  const { commands, scripts } = await costOf(() => hosts.due());
  expect(scripts, 'one for 400 runs').toBe(3);
  expect(commands / scripts).toBeLessThan(1_000);
});
