import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Offer } from '../../../shared/ports/frontier/frontier.ts';
import type { Forgettable, Forgotten, Marks } from '../../../shared/ports/marks.ts';
import type { RunOptions } from '../../../shared/ports/runs.ts';
import { FAST_RUN } from '../../support/builders.ts';
import { offerAll } from '../../support/stores/offer-all.ts';
import type { OpenStore, Store } from '../../support/stores/stores.ts';

const ROOM = { limit: 200, window: 1_000, unpaced: false };

function page(path: number | string, host = 'a.test', queue: 'normal' | 'priority' = 'normal'): Offer {
  const url = `http://${host}/${path}`;
  return { url, mark: url, host, step: '', depth: 0, queue };
}

function task(path: number | string, host = 'a.test') {
  return { mark: `http://${host}/${path}`, host };
}

/** Forgets marks that have no dead letters. A dry call beforehand must return the same and change nothing. */
async function forget(marks: Marks, which: Forgettable): Promise<Omit<Forgotten, 'letters'>> {
  const counted = await marks.forget(which, { isDry: true });
  const { letters = 0, ...forgotten } = await marks.forget(which);
  expect(counted).toMatchObject(forgotten);
  expect(letters).toBe(0);
  return forgotten;
}

/** The contract of tracing a URL and forgetting its mark. */
export function describeBiography(name: string, open: OpenStore, close: () => Promise<void> = async () => {}): void {
  describe(`marks and biography: ${name}`, () => {
    afterAll(close);

    async function setup(options: Partial<RunOptions> = {}): Promise<Store & { fail(mark: number): Promise<void> }> {
      const store = await open();
      onTestFinished(() => store.close());
      await store.runs.open('r', { ...FAST_RUN, dedup: 'ever', ...options }, 'p');
      return {
        ...store,
        fail: async (path) => {
          await store.frontier.offer('r', [page(path)]);
          const { tasks } = await store.frontier.release(ROOM);
          for (const { release } of tasks)
            await store.frontier.settle('r', release, { outcome: { kind: 'failed', reason: 'dns' } });
        },
      };
    }

    test('a trace finds a task that is waiting, publishing, queued, working or awaiting a retry', async () => {
      const { frontier, biographer, gate, step } = await setup({ intervalMs: 1_000 });
      const find = async () => {
        const place = (await biographer.trace('r', task(7)))?.place;
        const quick = (await biographer.trace('r', task(7), { isQuick: true }))?.place;
        expect(quick, 'a quick trace').toEqual(place);
        return place;
      };
      expect(await biographer.trace('nobody', task(7))).toBeUndefined();
      expect(await biographer.trace('r', task(7))).toMatchObject({ isMarked: false, hasFailed: false });
      await frontier.offer('r', [page(1), page(7), page('p', 'a.test', 'priority')]);
      const fresh = { attempts: 0, starts: 0, throttles: 0 };
      expect(await find()).toMatchObject({ at: 'waiting', queue: 'normal', ahead: 2, state: fresh });
      await frontier.release({ ...ROOM, limit: 2 });
      for (let second = 1; second <= 2; second++) {
        step(1_000);
        await frontier.release({ ...ROOM, limit: 2 });
      }
      expect(await find()).toMatchObject({ at: 'publishing', release: expect.any(Number), leaseMs: 60_000 });
      await frontier.queued('r', [3]);
      expect(await find()).toMatchObject({ at: 'queued', leaseMs: 3_900_000 });
      await frontier.admit('r', 3, 'host-3fa1');
      step(5_000);
      expect(await find()).toMatchObject({
        at: 'working',
        worker: 'host-3fa1',
        forMs: 5_000,
        leaseMs: 55_000,
        state: { starts: 1 },
      });
      await frontier.renew('r', [3]);
      expect(await find()).toMatchObject({ at: 'working', forMs: 5_000, leaseMs: 60_000 });
      await frontier.settle('r', 3, { outcome: { kind: 'retry', reason: 'dns', inMs: 9_000 } });
      expect(await find()).toMatchObject({ at: 'retry', queue: 'normal', inMs: 9_000, state: { attempts: 1 } });
      await gate.pauseByHand('a.test', 'they called');
      expect((await biographer.trace('r', task(7)))?.host).toMatchObject({
        intervalMs: 1_000,
        reason: 'they called',
        byHand: true,
      });
    });

    test('the failed attempts of a task are still known after it has succeeded', async () => {
      const { frontier, port, step } = await setup();
      await frontier.offer('r', [page(7)]);
      const attempt = { at: 1, worker: 'w', reason: 'dns' };
      for (const outcome of [{ kind: 'retry', reason: 'dns', inMs: 1_000 }, { kind: 'done' }] as const) {
        const { tasks } = await frontier.release(ROOM);
        for (const { release } of tasks)
          await frontier.settle('r', release, outcome.kind === 'done' ? { outcome } : { outcome, attempt });
        step(1_000);
      }
      expect(await port.attempts('http://a.test/7')).toEqual([attempt]);
    });

    test('the last ten failed attempts of a task are known, the newest first', async () => {
      const { frontier, port, step } = await setup();
      await frontier.offer('r', [page(7)]);
      for (let at = 1; at <= 12; at++) {
        const { tasks } = await frontier.release(ROOM);
        for (const { release } of tasks)
          await frontier.settle('r', release, {
            outcome: { kind: 'retry', reason: 'dns', inMs: 1_000 },
            attempt: { at, worker: 'w', reason: 'dns' },
          });
        step(1_000);
      }
      const noted = (await port.attempts('http://a.test/7')).map(({ at }) => at);
      expect(noted).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3]);
    });

    test('a task redirected to another host is found there, with the pause of that host', async () => {
      const { frontier, biographer, gate } = await setup();
      await frontier.offer('r', [page(7), page(8, 'b.test'), page(9, 'c.test')]);
      const { tasks } = await frontier.release({ ...ROOM, limit: 3 });
      const [seven, ...others] = tasks.toSorted((a, b) => (a.task.host < b.task.host ? -1 : 1));
      if (seven === undefined) throw new Error('nothing was released');
      for (const { release } of others) await frontier.settle('r', release, { outcome: { kind: 'defer' } });
      await gate.pauseByHand('b.test', 'they called');
      const moved = { ...seven.task, host: 'b.test', redirects: ['http://b.test/'] };
      await frontier.settle('r', seven.release, { outcome: { kind: 'defer' }, moved });
      const trace = await biographer.trace('r', task(7));
      expect(trace?.place).toMatchObject({ at: 'waiting', host: 'b.test', ahead: 0 });
      expect(trace?.host).toMatchObject({ byHand: true, reason: 'they called' });
      expect((await biographer.trace('r', task(8, 'b.test')))?.place).not.toHaveProperty('host');
    });

    test('a task anywhere in a long list is found, with the number of tasks ahead of it', async () => {
      const { frontier, biographer } = await setup();
      const offers = Array.from({ length: 5_000 }, (_, i) => page(i));
      await offerAll(frontier, 'r', offers);
      for (const ahead of [0, 1, 999, 1_000, 2_345, 4_999])
        expect((await biographer.trace('r', task(ahead)))?.place).toMatchObject({ at: 'waiting', ahead });
    });

    test('a task that has ended has no place; a done one keeps its mark, a failed one frees it', async () => {
      const { frontier, biographer, fail } = await setup();
      await frontier.offer('r', [page(1)]);
      await frontier.release(ROOM);
      await frontier.settle('r', 1, { outcome: { kind: 'done' } });
      await fail(2);
      expect(await biographer.trace('r', task(1))).toMatchObject({
        isMarked: true,
        hasFailed: false,
        hasOwnMarks: false,
      });
      expect((await biographer.trace('r', task(1)))?.place).toBeUndefined();
      expect(await biographer.trace('r', task(2))).toMatchObject({ isMarked: false, hasFailed: true });
      expect([await biographer.isKnown(task(1).mark), await biographer.isKnown(task(2).mark)]).toEqual([true, false]);
    });

    test('`ofRun` tells which marks a run has to itself: those it took with its own marks, and those that failed in it', async () => {
      const { marks, frontier, runs, fail } = await setup();
      await fail(1);
      await runs.open('own', FAST_RUN, 'p');
      await frontier.offer('own', [page(2)]);
      const all = [1, 2, 3].map((path) => task(path).mark);
      expect(await marks.ofRun('r', all)).toEqual([true, false, false]);
      expect(await marks.ofRun('own', all)).toEqual([false, true, false]);
      expect(await marks.ofRun('nobody', all)).toEqual([false, false, false]);
    });

    test('a forgotten URL is taken again even by the run that had it, whether it was done or failed', async () => {
      const { marks, frontier, fail } = await setup();
      await frontier.offer('r', [page(1)]);
      await frontier.release(ROOM);
      await frontier.settle('r', 1, { outcome: { kind: 'done' } });
      await fail(2);
      expect(await frontier.offer('r', [page(1), page(2)])).toEqual({ accepted: 0, known: 2 });
      for (const path of [1, 2])
        expect(await forget(marks, { mark: task(path).mark })).toEqual({ forgotten: 1, kept: 0 });
      expect(await forget(marks, { mark: task(3).mark })).toEqual({ forgotten: 0, kept: 0 });
      expect(await frontier.offer('r', [page(1), page(2)])).toEqual({ accepted: 2, known: 0 });
    });

    test('an incremental run takes a done URL again once it is forgotten; one still waiting is kept', async () => {
      const { marks, frontier } = await setup({ incremental: true });
      await frontier.offer('r', [page(1), page(2)]);
      await frontier.release({ ...ROOM, limit: 1 });
      await frontier.settle('r', 1, { outcome: { kind: 'done' } });
      expect(await frontier.offer('r', [page(1)])).toEqual({ accepted: 0, known: 1 });
      expect(await forget(marks, { host: 'a.test' })).toEqual({ forgotten: 1, kept: 1 });
      expect(await frontier.offer('r', [page(1), page(2)])).toEqual({ accepted: 1, known: 1 });
    });

    test('an incremental run does not take a waiting URL twice, although its host is forgotten', async () => {
      const { marks, frontier } = await setup({ incremental: true, recrawlAfterMs: 30_000 });
      await frontier.offer('r', [page(1)]);
      expect(await forget(marks, { host: 'a.test' })).toEqual({ forgotten: 0, kept: 1 });
      expect(await frontier.offer('r', [page(1)])).toEqual({ accepted: 0, known: 1 });
    });

    test.each([
      ['ever', 'own'],
      ['own', 'ever'],
    ])(
      'a URL done in run "%s" is forgotten there, although run "%s" still waits for it and keeps its own mark',
      async (first, second) => {
        const { marks, frontier, runs } = await setup();
        for (const id of ['ever', 'own'])
          await runs.open(id, { ...FAST_RUN, dedup: id === 'own' ? 'run' : 'ever' }, 'p');
        await frontier.offer(first, [page(1)]);
        const { tasks } = await frontier.release(ROOM);
        for (const { release } of tasks) await frontier.settle(first, release, { outcome: { kind: 'done' } });
        await frontier.offer(second, [page(1)]);
        expect(await forget(marks, { host: 'a.test' })).toEqual({ forgotten: 1, kept: 1 });
      },
    );

    test('forgetting a host or all keeps the marks of tasks that wait or are in flight', async () => {
      const { marks, frontier, runs } = await setup();
      await runs.open('own', FAST_RUN, 'p');
      for (const run of ['r', 'own']) {
        await frontier.offer(run, [page(1), page(2), page(1, 'b.test'), page('x', 'a.test.evil.test')]);
        await frontier.offer(run, [{ malformed: 'see http://', problem: 'none' }]);
      }
      const { tasks } = await frontier.release(ROOM);
      for (const { release, task } of tasks) {
        if (task.mark === 'http://a.test/2') continue;
        await frontier.settle(task.run, release, { outcome: { kind: 'done' } });
      }
      await frontier.settle(
        'r',
        tasks.find(({ task }) => task.run === 'r' && task.mark === 'http://a.test/2')?.release ?? 0,
        {
          outcome: { kind: 'retry', reason: 'dns', inMs: 60_000 },
        },
      );
      await frontier.offer('r', [page(3)]);
      expect(await forget(marks, { host: 'a.test' })).toEqual({ forgotten: 2, kept: 3 });
      expect(await frontier.offer('r', [page(1), page(2), page(3)])).toEqual({ accepted: 1, known: 2 });
      await runs.cancel('r');
      while ((await frontier.drain()) > 0);
      expect(await forget(marks, 'all')).toEqual({ forgotten: 6, kept: 1 });
      expect(await forget(marks, 'all')).toEqual({ forgotten: 0, kept: 1 });
    });

    test('forgetting a host with thousands of marks leaves other hosts alone', async () => {
      const { marks, frontier, runs } = await setup();
      for (const host of ['a.test', 'b.test', 'c.test:81']) {
        const offers = Array.from({ length: 3_000 }, (_, i) => page(i, host));
        await offerAll(frontier, 'r', offers);
      }
      expect(await forget(marks, 'all'), 'all of them wait').toEqual({ forgotten: 0, kept: 9_000 });
      for (let left = 1; left > 0; ) {
        const { tasks } = await frontier.release({ limit: 200, window: 10_000, unpaced: false });
        left = tasks.length;
        await Promise.all(tasks.map(({ release }) => frontier.settle('r', release, { outcome: { kind: 'done' } })));
      }
      await runs.seal('r', 'p');
      expect(await forget(marks, { host: 'c.test:81' })).toEqual({ forgotten: 3_000, kept: 0 });
      expect(await forget(marks, 'all')).toEqual({ forgotten: 6_000, kept: 0 });
    });
  });
}
