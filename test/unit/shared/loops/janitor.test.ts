import { expect, onTestFinished, test } from 'vitest';
import { Janitor } from '../../../../shared/loops/janitor.ts';
import type { FullStore } from '../../../../shared/ports/frontier/full-store.ts';
import { FAST_RUN } from '../../../support/builders.ts';
import { EVERYTHING, LogLines, offerOf, openEmbedded, settled } from '../../../support/stores/embedded.ts';
import { offerAll } from '../../../support/stores/offer-all.ts';
import { withMethods } from '../../../support/with-methods.ts';

/** A janitor on the embedded stores, with a run `r` of `tasks` tasks; rounds are 5 s apart. */
async function setup({ tasks = 0, sweep }: { readonly tasks?: number; readonly sweep?: () => Promise<number> } = {}) {
  const stores = openEmbedded();
  const { clock, frontier, runs } = stores;
  await runs.open('r', FAST_RUN, 'p');
  const offers = Array.from({ length: tasks }, (_, i) => offerOf(`http://a.test/${i}`));
  await offerAll(frontier, 'r', offers);
  const log = new LogLines();
  const calls = { reap: 0 };
  const failure: { error?: Error } = {};
  const watched = withMethods(frontier, {
    reap: () => {
      calls.reap++;
      return failure.error === undefined ? frontier.reap() : Promise.reject(failure.error);
    },
  });
  const options = { frontier: watched, clock, log, random: () => 0.5 };
  const janitor = new Janitor(sweep === undefined ? options : { ...options, sweep });
  onTestFinished(() => janitor.stop());
  return {
    ...stores,
    janitor,
    log,
    calls,
    failure,
    async step(ms: number): Promise<void> {
      await settled();
      clock.step(ms);
      await settled();
    },
  };
}

test('lapsed leases are put back, however many, and logged', async () => {
  const { frontier, runs, janitor, clock, log } = await setup({ tasks: 1_300 });
  for (let i = 0; i < 2; i++) await frontier.release(EVERYTHING);
  clock.step(60_000);
  await janitor.start();
  await settled();
  expect(await runs.progress('r')).toMatchObject({ waiting: 1_300, inFlight: 0 });
  expect(log.lines).toEqual(['info: leases lapsed: tasks put back 1300']);
});

test('a cancelled run is drained, however long it is', async () => {
  const { runs, janitor } = await setup({ tasks: 2_500 });
  await runs.cancel('r');
  await janitor.start();
  await settled();
  expect(await runs.progress('r')).toMatchObject({ state: 'cancelled', cancelled: 2_500, waiting: 0 });
  expect((await runs.progress('r'))?.endedAt).toBeDefined();
});

test('old runs are deleted until there are none left', async () => {
  const left = [100, 100, 7, 0];
  const { janitor } = await setup({ sweep: async () => left.shift() ?? 0 });
  await janitor.start();
  await settled();
  expect(left).toEqual([]);
});

test('a round comes every 5 s or so, spread over the workers', async () => {
  const { janitor, calls, step } = await setup();
  await janitor.start();
  await step(4_999);
  expect(calls.reap).toBe(1);
  await step(1);
  expect(calls.reap).toBe(2);
});

test('a failed round is logged, and the next one comes as usual', async () => {
  const { janitor, failure, runs, step, log } = await setup({ tasks: 3 });
  failure.error = new Error('Redis is away');
  await runs.cancel('r');
  await janitor.start();
  await settled();
  expect(log.lines).toEqual(['warn: cleanup failed, trying again Redis is away']);
  delete failure.error;
  await step(5_000);
  expect(await runs.progress('r')).toMatchObject({ cancelled: 3 });
});

test('once stopped, no round comes; stop waits for the one under way, but not for all of it', async () => {
  const { promise: swept, resolve } = Promise.withResolvers<number>();
  let sweeps = 0;
  const { janitor, calls, step } = await setup({
    sweep: () => {
      sweeps++;
      return swept;
    },
  });
  await janitor.start();
  await settled();
  let isOver = false;
  const stopped = janitor.stop().then(() => {
    isOver = true;
  });
  await settled();
  expect(isOver).toBe(false);
  resolve(100);
  await stopped;
  await step(60_000);
  expect([sweeps, calls.reap]).toEqual([1, 1]);
  await janitor.stop();
});

test('stop without a start does nothing', async () => {
  const { janitor } = await setup();
  await janitor.stop();
});

test('runs that a full store has paused are logged, with what they need', async () => {
  const { frontier, clock, log } = await setup();
  const stuck = [[{ run: 'r', reason: 'it needs about 3 MiB' }]];
  const full = withMethods<typeof frontier & Partial<FullStore>>(frontier, {
    pauseStuck: async () => stuck.pop() ?? [],
  });
  const janitor = new Janitor({ frontier: full, clock, log, random: () => 0.5 });
  onTestFinished(() => janitor.stop());
  await janitor.start();
  await settled();
  clock.step(5_000);
  await settled();
  expect(log.lines).toEqual(['error: run paused, since none of its tasks can end r it needs about 3 MiB']);
});

test('tasks whose deliveries are lost are put back and logged', async () => {
  const { frontier, clock, log } = await setup();
  const lost = [0, 3, 0];
  const janitor = new Janitor({ frontier, clock, log, random: () => 0.5, putBackLost: async () => lost.shift() ?? 0 });
  onTestFinished(() => janitor.stop());
  await janitor.start();
  for (let round = 0; round < 2; round++) {
    await settled();
    clock.step(5_000);
  }
  await settled();
  expect(log.lines).toEqual(['warn: deliveries lost: tasks put back 3']);
  expect(lost).toEqual([]);
});
