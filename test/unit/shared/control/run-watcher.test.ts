import { expect, test } from 'vitest';
import { RunWatcher } from '../../../../shared/control/run-watcher.ts';
import { nameOf } from '../../../../shared/ports/frontier/frontier.ts';
import { FAST_RUN } from '../../../support/builders.ts';
import { EVERYTHING, offerOf, openEmbedded, settled } from '../../../support/stores/embedded.ts';
import { withMethods } from '../../../support/with-methods.ts';

/** A run with one URL, and what its watcher asks the store for. */
async function setup() {
  const stores = openEmbedded();
  const { clock, runs, frontier } = stores;
  await runs.open('r', FAST_RUN, 'p');
  await frontier.offer('r', [offerOf('http://a.test/1')]);
  const asked = { progress: 0, standing: 0, hosts: 0 };
  const counting = withMethods(runs, {
    progress: (run) => {
      asked.progress++;
      return runs.progress(run);
    },
    standing: (run) => {
      asked.standing++;
      return runs.standing(run);
    },
    hosts: (run, limit) => {
      asked.hosts++;
      return runs.hosts(run, limit);
    },
  });
  return {
    ...stores,
    asked,
    watch: (isOwn?: () => boolean) =>
      new RunWatcher({ run: 'r', runs: counting, clock, ...(isOwn === undefined ? {} : { isOwn }) }),
    async steps(count: number, ms: number): Promise<void> {
      for (let i = 0; i < count; i++) {
        await settled();
        clock.step(ms);
      }
      await settled();
    },
  };
}

const { signal } = new AbortController();

test('where nobody watches, nothing is asked but whether the run has ended', async () => {
  const { runs, asked, watch, steps } = await setup();
  const ending = watch().untilEnded(50, signal);
  await steps(20, 50);
  expect(asked).toEqual({ progress: 0, standing: 21, hosts: 0 });
  await runs.cancel('r');
  expect(await Promise.race([ending, 'goes on']), 'something is left').toBe('goes on');
});

test('the end of a run, a run that is unknown, another one of its name, and a signal end the wait', async () => {
  const { runs, frontier, watch, steps } = await setup();
  const ending = watch().untilEnded(50, signal);
  await runs.cancel('r');
  while ((await frontier.drain()) > 0);
  await steps(1, 50);
  await ending;
  await new RunWatcher({ run: 'nobody', runs, clock: openEmbedded().clock }).untilEnded(50, signal);
  await runs.open('s', FAST_RUN, 'p');
  await watch(() => false).untilEnded(50, signal);
  await watch().untilEnded(50, AbortSignal.abort());
});

test('who draws sees each counter, and the hosts of the last second; of a run that has ended, no hosts', async () => {
  const { runs, frontier, asked, watch, steps } = await setup();
  const shown: [waiting: number, hosts: number][] = [];
  const following = watch().follow(
    200,
    ({ progress, hosts }) => void shown.push([progress.waiting, hosts.length]),
    signal,
  );
  await steps(10, 200);
  expect(asked).toEqual({ progress: 11, standing: 0, hosts: 3 });
  await runs.cancel('r');
  while ((await frontier.drain()) > 0);
  await steps(1, 200);
  await following;
  expect(shown.at(0)).toEqual([1, 1]);
  expect(shown.at(-1)).toEqual([0, 0]);
  expect(asked.hosts).toBe(3);
});

test('the speed is that of late, however seldom somebody looks', async () => {
  const { clock, frontier, watch } = await setup();
  for (let n = 2; n <= 30; n++) await frontier.offer('r', [offerOf(`http://a.test/${n}`)]);
  const settle = async (limit: number): Promise<void> => {
    const { tasks } = await frontier.release({ ...EVERYTHING, limit });
    for (const task of tasks) await frontier.settle('r', nameOf(task), { outcome: { kind: 'done' } });
  };
  const watcher = watch();
  const rateAfter = async (ms: number, limit: number): Promise<number | undefined> => {
    await settle(limit);
    clock.step(ms);
    return (await watcher.look())?.rate;
  };
  expect(await rateAfter(10_000, 10), 'a first look knows the average').toBe(1);
  expect(await rateAfter(6_000, 12)).toBe(2);
  expect(await rateAfter(6_000, 0)).toBe(0);
  expect(await rateAfter(1_000, 3)).toBe(3);
  expect(await rateAfter(60_000, 0)).toBe(0);
});

test('letters that are replayed into their run are no pages that vanish: the speed is never below zero', async () => {
  const { runs, clock } = await setup();
  const progress = await runs.progress('r');
  if (progress === undefined) throw new Error('it was opened');
  let failed = 200;
  const replaying = withMethods(runs, { progress: async () => ({ ...progress, readAt: clock.now(), failed }) });
  const watcher = new RunWatcher({ run: 'r', runs: replaying, clock });
  const rateAfter = async (ms: number, count: number): Promise<number | undefined> => {
    clock.step(ms);
    failed = count;
    return (await watcher.look())?.rate;
  };
  await rateAfter(1_000, 200);
  expect(await rateAfter(1_000, 10)).toBeGreaterThanOrEqual(0);
  expect(await rateAfter(1_000, 14), 'from then on').toBe(4);
});

test('before any page is done, the time left is not told of a run with more hosts than were looked at', async () => {
  const { runs, frontier, clock } = openEmbedded();
  await runs.open('r', { ...FAST_RUN, intervalMs: 1_000 }, 'p');
  await frontier.offer('r', [offerOf('http://a.test/1'), offerOf('http://b.test/1')]);
  const timeLeft = async (mostHosts: number): Promise<number | undefined> =>
    (await new RunWatcher({ run: 'r', runs, clock, mostHosts }).look())?.bottleneck.etaMs;
  expect(await timeLeft(3)).toBe(1_000);
  expect(await timeLeft(1)).toBeUndefined();
});
