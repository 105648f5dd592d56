import { expect, test } from 'vitest';
import { HostList } from '../../../../services/api/host-list.ts';
import type { Link, LinkedStores } from '../../../../services/api/link.ts';
import { SteppedClock } from '../../../support/stores/stepped-clock.ts';

/** Lists the hosts of runs that have this many each; a read of a run takes as long as a test says. */
function setup(hostsOfRuns: readonly number[], tookMs = 0) {
  const clock = new SteppedClock();
  const read: number[] = [];
  const circumstances = { pausedMs: 0, reason: '', byHand: false, isUnreachable: false, intervalMs: 1_000 };
  const stores = {
    hosts: { paused: async () => [] },
    runs: {
      tallies: async (limit: number) =>
        hostsOfRuns.slice(0, limit).map((waiting, index) => ({ run: `r${index}`, waiting })),
      hosts: async (run: string, limit: number) => {
        clock.step(tookMs);
        const length = Math.min(limit, hostsOfRuns[Number(run.slice(1))] ?? 0);
        read.push(length);
        return Array.from({ length }, (_, index) => ({ host: `${run}-${index}.test`, waiting: 1, ...circumstances }));
      },
    },
  } as unknown as LinkedStores;
  const link = { withStores: (action: (stores: LinkedStores) => Promise<unknown>) => action(stores) };
  return { list: new HostList(link as unknown as Link, clock), clock, read };
}

test('however many hosts the runs have, ten thousand are read: each run gets a share, and what others leave', async () => {
  const { list, read } = setup([...Array.from({ length: 40 }, () => 6_000), 3, 20]);
  const { hosts, isAll } = await list.read();
  expect(isAll).toBe(false);
  expect(hosts.length).toBe(read.reduce((sum, each) => sum + each, 0));
  expect(hosts.length).toBeLessThanOrEqual(10_000);
  expect(read.slice(0, 2), 'the smallest first').toEqual([3, 20]);
  expect(Math.min(...read.slice(2))).toBeGreaterThanOrEqual(200);
});

test('of a thousand open runs, the hosts of every one are listed, however long ago it was opened', async () => {
  const small = Array.from({ length: 1_000 }, () => 2);
  const { list } = setup([...small, ...Array.from({ length: 20 }, () => 200), 100_000]);
  const { hosts, isAll } = await list.read();
  const countOf = (run: string): number => hosts.filter(({ runs }) => runs.includes(run)).length;
  expect([countOf('r0'), countOf('r999'), countOf('r1000'), countOf('r1019')]).toEqual([2, 2, 200, 200]);
  expect([countOf('r1020'), isAll]).toEqual([4_000, false]);
});

test('a list says whether it is complete', async () => {
  expect((await setup([9_999]).list.read()).isAll).toBe(true);
  expect((await setup([10_000]).list.read()).isAll).toBe(false);
  expect((await setup([5, 0, 7]).list.read()).isAll).toBe(true);
  expect((await setup(Array.from({ length: 10_000 }, () => 0)).list.read()).isAll).toBe(false);
});

test('concurrent requests share one list; a costly one is kept longer, until something is changed', async () => {
  const { list, clock, read } = setup([1], 4_000);
  await Promise.all(Array.from({ length: 8 }, () => list.read()));
  expect(read).toHaveLength(1);
  clock.step(35_999);
  await list.read();
  expect(read).toHaveLength(1);
  clock.step(1);
  await list.read();
  expect(read).toHaveLength(2);
  list.forget();
  await list.read();
  expect(read).toHaveLength(3);
});
