import { expect, onTestFinished, test, vi } from 'vitest';
import { LeaseKeeper } from '../../../../services/worker/lease-keeper.ts';
import type { Frontier, ReleaseName } from '../../../../shared/ports/frontier/frontier.ts';
import { silentLog } from '../../../../shared/runtime/logger.ts';

const MARK = 'http://a.test/1';

function setup() {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const renewed: [string, number[]][] = [];
  let isAway = false;
  const renew = async (run: string, releases: readonly ReleaseName[]): Promise<void> => {
    if (isAway) throw new Error('the store is away');
    renewed.push([run, releases.map(({ release }) => release)]);
  };
  const keeper = new LeaseKeeper({ renew } as Partial<Frontier> as Frontier, silentLog);
  onTestFinished(() => keeper.stop());
  return {
    keeper,
    /** What was renewed in this time. */
    after: async (ms: number): Promise<[string, number[]][]> => {
      await vi.advanceTimersByTimeAsync(ms);
      return renewed.splice(0);
    },
    goAway: (away: boolean) => {
      isAway = away;
    },
  };
}

test('the leases of all tasks in hand are renewed every 20 s, by run, until they are dropped', async () => {
  const { keeper, after } = setup();
  const releases = [1, 2, 3].map((release) => ({ release, mark: MARK }));
  const [first, second, third] = releases as [ReleaseName, ReleaseName, ReleaseName];
  keeper.start();
  keeper.keep('r', first);
  keeper.keep('r', second);
  keeper.keep('s', third);
  expect(await after(19_999)).toEqual([]);
  expect(await after(1)).toEqual([
    ['r', [1, 2]],
    ['s', [3]],
  ]);
  keeper.drop('r', first);
  keeper.drop('s', third);
  expect(await after(20_000)).toEqual([['r', [2]]]);
  keeper.stop();
  expect(await after(60_000)).toEqual([]);
});

test('leases are renewed again once the store is back', async () => {
  const { keeper, after, goAway } = setup();
  keeper.start();
  keeper.keep('r', { release: 1, mark: MARK });
  goAway(true);
  expect(await after(40_000)).toEqual([]);
  goAway(false);
  expect(await after(20_000)).toEqual([['r', [1]]]);
});
