import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { FAST_RUN } from '../../support/builders.ts';
import type { OpenStore, Store } from '../../support/stores/stores.ts';
import { pages } from './frontier/frontier-setup.ts';

const ROOM = { limit: 200, window: 1_000, unpaced: false };

/** The contract of the overview of all runs and of the hosts each one waits for. */
export function describeRunOverview(name: string, open: OpenStore, close: () => Promise<void> = async () => {}): void {
  describe(`run overview: ${name}`, () => {
    afterAll(close);

    async function setup(): Promise<Store> {
      const store = await open();
      onTestFinished(() => store.close());
      return store;
    }

    test('the standing of a run has its incarnation, state and whether it has ended; an unknown run has none', async () => {
      const { runs, frontier } = await setup();
      expect(await runs.standing('r')).toBeUndefined();
      const { incarnation } = await runs.open('r', FAST_RUN, 'p');
      await frontier.offer('r', pages(1, 1));
      const { tasks } = await frontier.release(ROOM);
      expect(await runs.standing('r')).toEqual({ incarnation, state: 'running', hasEnded: false });
      await runs.pause('r');
      expect(await runs.standing('r')).toEqual({ incarnation, state: 'paused', hasEnded: false });
      await runs.seal('r');
      await frontier.settle('r', tasks[0]?.release ?? 0, { outcome: { kind: 'done' } });
      expect(await runs.standing('r')).toEqual({ incarnation, state: 'finished', hasEnded: true });
      await runs.open('r', FAST_RUN, 'q');
      expect(await runs.standing('r'), 'joined again').toEqual({ incarnation, state: 'running', hasEnded: false });
    });

    test('a cancelled run has ended once all its tasks are drained', async () => {
      const { runs, frontier } = await setup();
      await runs.open('r', FAST_RUN, 'p');
      await frontier.offer('r', pages(1, 3));
      await runs.cancel('r');
      expect([await runs.standing('r'), await runs.counts()]).toMatchObject([
        { state: 'cancelled', hasEnded: false },
        { known: 1, open: 1 },
      ]);
      while ((await frontier.drain()) > 0);
      expect([await runs.standing('r'), await runs.counts()]).toMatchObject([
        { state: 'cancelled', hasEnded: true },
        { known: 1, open: 0 },
      ]);
    });

    test('known and open runs are counted as runs are opened, joined, ended and reopened', async () => {
      const { runs } = await setup();
      expect(await runs.counts()).toEqual({ known: 0, open: 0 });
      await runs.open('r', FAST_RUN, 'p');
      expect(await runs.counts()).toEqual({ known: 1, open: 1 });
      await runs.open('r', FAST_RUN, 'q');
      await runs.open('s', FAST_RUN, 'p');
      expect(await runs.counts()).toEqual({ known: 2, open: 2 });
      await runs.seal('r');
      await runs.seal('s');
      expect(await runs.counts()).toEqual({ known: 2, open: 0 });
      await runs.open('s', FAST_RUN, 'p');
      expect(await runs.counts()).toEqual({ known: 2, open: 1 });
    });

    test('all runs and open runs are listed newest first, never more than the limit', async () => {
      const { runs, step } = await setup();
      for (const run of ['c', 'a', 'd', 'b']) {
        await runs.open(run, FAST_RUN, 'p');
        step(1_000);
      }
      await runs.seal('a');
      await runs.seal('b');
      expect(await runs.list(9)).toEqual(['b', 'd', 'a', 'c']);
      expect(await runs.listOpen(9)).toEqual(['d', 'c']);
      expect([await runs.list(1), await runs.listOpen(1)]).toEqual([['b'], ['d']]);
      expect([await runs.list(0), await runs.listOpen(0)]).toEqual([[], []]);
    });

    test('the tallies of the open runs agree with their progress, the newest run first, never more than the limit', async () => {
      const { runs, frontier, step } = await setup();
      const ids = Array.from({ length: 205 }, (_, i) => `r${i}`);
      for (const [i, run] of ids.entries()) {
        await runs.open(run, FAST_RUN, 'p');
        await frontier.offer(run, pages(1, 1 + (i % 3)));
        step(1);
      }
      await runs.open('ended', FAST_RUN, 'p');
      await runs.seal('ended');
      const { tasks } = await frontier.release({ ...ROOM, limit: 10 });
      for (const [i, { task, release }] of tasks.entries()) {
        if (i < 3) await frontier.settle(task.run, release, { outcome: { kind: 'done' } });
        else if (i < 5) await frontier.settle(task.run, release, { outcome: { kind: 'failed', reason: 'timeout' } });
        else if (i < 6) await frontier.settle(task.run, release, { outcome: { kind: 'skipped', reason: 'robots' } });
      }
      const expected = await Promise.all(
        ids.toReversed().map(async (run) => {
          const { startedAt, readAt, waiting, inFlight, done, skipped, failed } = (await runs.progress(run)) ?? {};
          return { run, startedAt, readAt, waiting, inFlight, done, skipped, failed };
        }),
      );
      for (const limit of [0, 1, 100, 101, 205, 1_000])
        expect(await runs.tallies(limit), `at most ${limit}`).toEqual(expected.slice(0, limit));
      const sum = (of: 'inFlight' | 'done' | 'skipped' | 'failed') =>
        expected.reduce((total, tally) => total + (tally[of] ?? 0), 0);
      expect([sum('inFlight'), sum('done'), sum('skipped'), sum('failed')]).toEqual([tasks.length - 6, 3, 1, 2]);
    });

    test('hosts of a run are listed once each, up to the limit, beginning with those paused longest', async () => {
      const { runs, gate, frontier } = await setup();
      await runs.open('r', FAST_RUN, 'p');
      const hosts = Array.from({ length: 450 }, (_, i) => `host-${i}.test`);
      for (const host of hosts) await frontier.offer('r', pages(1, 1, host));
      const paused = ['host-7.test', 'host-400.test', 'host-99.test'];
      for (const [i, host] of paused.entries()) await gate.pause(host, (i + 1) * 60_000, 'HTTP 429');
      // Release finds them paused and schedules their next check.
      while ((await frontier.release({ ...ROOM, limit: 20 })).tasks.length > 0);
      await frontier.offer(
        'r',
        hosts.flatMap((host) => pages(2, 2, host)),
      );
      const named = async (limit: number): Promise<string[]> => (await runs.hosts('r', limit)).map(({ host }) => host);
      expect((await named(3)).toSorted()).toEqual(paused.toSorted());
      expect((await named(3))[0]).toBe('host-99.test');
      for (const limit of [0, 1, 99, 100, 101, 200, 450, 1_000]) {
        const found = await named(limit);
        expect([found.length, new Set(found).size], `at most ${limit}`).toEqual([
          Math.min(limit, 450),
          Math.min(limit, 450),
        ]);
      }
      expect((await runs.hosts('r', 1_000)).every(({ waiting }) => waiting > 0)).toBe(true);
      expect(await runs.hosts('nobody', 9)).toEqual([]);
      expect([await runs.hostCount('r'), await runs.hostCount('nobody')]).toEqual([450, 0]);
    });
  });
}
