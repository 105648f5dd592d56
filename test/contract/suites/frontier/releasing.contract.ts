import { afterAll, describe, expect, test } from 'vitest';
import { MAX_OFFER } from '../../../../shared/ports/frontier/frontier.ts';
import { LATE_MS } from '../../../../shared/stores/policy.ts';
import type { OpenStore } from '../../../support/stores/stores.ts';
import { OPTIONS, page, pages, ROOM, setupOf, urls } from './frontier-setup.ts';

/** The promises of every frontier about when it releases tasks: by pace and by turn. */
export function describeReleasing(name: string, open: OpenStore, close: () => Promise<void> = async () => {}): void {
  describe(`releasing: ${name}`, () => {
    afterAll(close);
    const setup = setupOf(open);

    test('a priority task is released before the other tasks of its host', async () => {
      const { frontier } = await setup();
      await frontier.offer('r', [page(1), page(2), page('news', 'a.test', { queue: 'priority' })]);
      expect(urls(await frontier.release({ ...ROOM, limit: 2 }))).toEqual(['a.test/news', 'a.test/1']);
    });

    test('a fast host is released 250 ms ahead of its slots', async () => {
      const { frontier, step } = await setup({ intervalMs: 100 });
      await frontier.offer('r', pages(1, 10));
      expect(urls(await frontier.release(ROOM))).toEqual(['a.test/1', 'a.test/2', 'a.test/3']);
      expect((await frontier.release(ROOM)).tasks).toEqual([]);
      step(250);
      expect(urls(await frontier.release(ROOM))).toEqual(['a.test/4', 'a.test/5', 'a.test/6']);
    });

    test('a slow host is released 100 ms ahead of its slot, and not checked before', async () => {
      const { frontier, step } = await setup({ intervalMs: 10_000 });
      await frontier.offer('r', pages(1, 3));
      await frontier.release(ROOM);
      const { nextLookMs } = await frontier.release(ROOM);
      expect(nextLookMs).toBeGreaterThanOrEqual(9_900);
      expect(nextLookMs).toBeLessThanOrEqual(9_950);
      step(nextLookMs - 5);
      expect((await frontier.release(ROOM)).tasks).toEqual([]);
      step(5);
      expect(urls(await frontier.release(ROOM))).toEqual(['a.test/2']);
    });

    test('a host whose slot went to a request of no task, for its robots.txt, is released for its next slot', async () => {
      const { frontier, gate, step } = await setup({ intervalMs: 10_000 });
      await frontier.offer('r', pages(1, 2));
      expect(await gate.ask('a.test', { intervalMs: 10_000, concurrency: 0 }, 'w')).toEqual({ granted: true, inMs: 0 });
      expect((await frontier.release(ROOM)).tasks).toEqual([]);
      step(9_850);
      expect((await frontier.release(ROOM)).tasks).toEqual([]);
      step(100);
      expect(urls(await frontier.release(ROOM))).toEqual(['a.test/1']);
    });

    test('a fast host is released in batches, each when half of the last one is used, not task by task', async () => {
      const { frontier, step } = await setup({ intervalMs: 10 });
      await frontier.offer('r', pages(1, 200));
      const counts: number[] = [];
      for (let ms = 0; ms < 1_000; ms += 5) {
        const { length } = (await frontier.release(ROOM)).tasks;
        if (length > 0) counts.push(length);
        step(5);
      }
      expect(counts.length).toBeLessThanOrEqual(9);
      expect(counts.reduce((sum, count) => sum + count)).toBeGreaterThanOrEqual(100);
    });

    test('two runs on one host share its pace and take turns', async () => {
      const { frontier, runs, step } = await setup({ intervalMs: 2_000, dedup: 'run' });
      await runs.open('s', { ...OPTIONS, dedup: 'run', intervalMs: 2_000 }, 'p');
      await frontier.offer('r', pages(1, 9));
      await frontier.offer('s', pages(1, 9));
      const turns: string[] = [];
      for (let i = 0; i < 80; i++) {
        const { tasks } = await frontier.release(ROOM);
        turns.push(...tasks.map(({ task }) => task.run));
        step(100);
      }
      expect(turns).toEqual(['r', 's', 'r', 's', 'r']);
    });

    test('a host is paced by the slowest of the runs that have tasks for it', async () => {
      const { frontier, runs, step } = await setup({ intervalMs: 10_000, dedup: 'run' });
      await runs.open('fast', { ...OPTIONS, dedup: 'run', intervalMs: 100 }, 'p');
      await frontier.offer('r', pages(1, 9));
      let released = (await frontier.release(ROOM)).tasks.length;
      await frontier.offer('fast', pages(1, 99));
      for (let i = 0; i < 40; i++) {
        released += (await frontier.release(ROOM)).tasks.length;
        step(500);
      }
      expect(released).toBeLessThanOrEqual(3);
    });

    test('the pace of a run binds the others on its host for ten seconds and two intervals after its last release there', async () => {
      const { frontier, runs, step } = await setup({ intervalMs: 10_000, dedup: 'run' });
      await runs.open('fast', { ...OPTIONS, dedup: 'run', intervalMs: 1_000 }, 'p');
      await frontier.offer('r', [page('only')]);
      expect(urls(await frontier.release(ROOM))).toEqual(['a.test/only']);
      await frontier.offer('fast', pages(1, 99));
      const perSecond: number[] = [];
      for (let second = 1; second <= 33; second++) {
        step(1_000);
        perSecond.push((await frontier.release(ROOM)).tasks.length);
      }
      const releasedBy = (second: number) => perSecond.slice(0, second).reduce((sum, n) => sum + n, 0);
      expect([releasedBy(9), releasedBy(19), releasedBy(29), releasedBy(33) > 4]).toEqual([0, 1, 2, true]);
    });

    test('an unpaced release ignores the pace of a run that no worker has touched yet', async () => {
      const { frontier } = await setup({ intervalMs: 60_000 });
      await frontier.offer('r', pages(1, 300));
      const alone = { ...ROOM, unpaced: true };
      const counts = [(await frontier.release(alone)).tasks.length, (await frontier.release(alone)).tasks.length];
      expect(counts).toEqual([200, 100]);
      await frontier.admit('r', 1, 'w');
      await frontier.offer('r', pages(301, 400));
      expect((await frontier.release(alone)).tasks.length).toBe(1);
    });

    test('no more tasks than the window are in flight, shared by the runs that have tasks waiting', async () => {
      const { frontier, runs } = await setup();
      await frontier.offer('r', pages(1, 30));
      expect((await frontier.release({ ...ROOM, window: 10 })).tasks.length).toBe(10);
      await runs.open('s', { ...OPTIONS, dedup: 'run' }, 'p');
      await frontier.offer('s', pages(1, 30));
      expect((await frontier.release({ ...ROOM, window: 10 })).tasks).toEqual([]);
      for (let release = 1; release <= 4; release++) await frontier.settle('r', release, { outcome: { kind: 'done' } });
      const { tasks } = await frontier.release({ ...ROOM, window: 10 });
      expect(tasks.map(({ task }) => task.run)).toEqual(['s', 's', 's', 's']);
    });

    test('the unused part of a run’s share of the window goes to the other runs', async () => {
      const { frontier, runs } = await setup({ dedup: 'run' });
      await runs.open('s', { ...OPTIONS, dedup: 'run' }, 'p');
      await frontier.offer('r', pages(1, 20));
      await frontier.offer('s', pages(1, 2, 'b.test'));
      const { tasks } = await frontier.release({ ...ROOM, window: 10 });
      expect(tasks.map(({ task }) => task.run).toSorted()).toEqual([...Array(8).fill('r'), 's', 's']);
    });

    test('a window above a thousand opens gradually as it fills, and shrinks while deliveries are late', async () => {
      const { frontier, step } = await setup();
      for (let from = 1; from <= 12_000; from += 500) await frontier.offer('r', pages(from, from + 499));
      const wide = { limit: 20_000, window: 5_000, unpaced: false };
      const look = async (afterMs = 500): Promise<number> => {
        step(afterMs);
        return (await frontier.release(wide)).tasks.length;
      };
      const settle = async (from: number, to: number): Promise<void> => {
        for (let n = from; n <= to; n++) await frontier.settle('r', n, { outcome: { kind: 'done' } });
      };
      const opening = [await look(), await look(), await look(), await look(), await look()];
      expect(opening).toEqual([1_000, 1_000, 2_000, 1_000, 0]);
      const comesLate = async (): Promise<number> => {
        step(400);
        await frontier.admit('r', 5_000, 'w');
        return await look(100);
      };
      await settle(1, 2_000);
      expect(await comesLate(), 'four fifths of the 3 000 that are out').toBe(0);
      await settle(2_001, 2_900);
      expect([await look(), await look()], 'no more come late: a tenth more').toEqual([300, 240]);
      step(LATE_MS);
      expect(await frontier.admit('r', 5_540, 'w'), 'just in time').toMatchObject({ verdict: 'work' });
      expect(await look(500 - LATE_MS)).toBe(264);
    });

    test('tasks past their deadline are released in batches, whatever the pace of their host', async () => {
      const { frontier, step } = await setup({ intervalMs: 60_000 });
      const late = Array.from({ length: 450 }, (_, n) => page(n, 'a.test', { deadlineMs: 1_000 }));
      await frontier.offer('r', late);
      await frontier.offer('r', [page('a'), page('b')]);
      step(1_000);
      const counts: [number, number][] = [];
      for (let look = 0; look < 4; look++) {
        const { tasks } = await frontier.release(ROOM);
        const gone = tasks.filter(({ verdict }) => verdict === 'deadline').map(({ release }) => release);
        counts.push([gone.length, tasks.length - gone.length]);
        await frontier.fail('r', gone, 'deadline');
      }
      expect(counts).toEqual([
        [200, 0],
        [200, 0],
        [50, 1],
        [0, 0],
      ]);
    });

    test('tasks past their deadline between others use up no slot of their host', async () => {
      const { frontier, step } = await setup({ intervalMs: 100 });
      const mixed = Array.from({ length: 12 }, (_, n) => page(n, 'a.test', n % 2 === 0 ? { deadlineMs: 1_000 } : {}));
      await frontier.offer('r', mixed);
      step(1_000);
      const { tasks } = await frontier.release(ROOM);
      const verdicts = tasks.map(({ verdict }) => verdict);
      expect(verdicts).toEqual(['deadline', 'go', 'deadline', 'go', 'deadline', 'go']);
    });

    test('tasks past their deadline are released up to the next task in time, and no further', async () => {
      const { frontier, step } = await setup({ intervalMs: 60_000 });
      const late = { deadlineMs: 1_000 };
      const mixed = [late, late, late, {}, late, {}].map((extra, n) => page(n, 'a.test', extra));
      await frontier.offer('r', mixed);
      step(1_000);
      const { tasks } = await frontier.release(ROOM);
      expect(tasks.map(({ verdict }) => verdict)).toEqual(['deadline', 'deadline', 'deadline', 'go']);
    });

    test('hundreds of paused hosts of one run do not hold up another run', async () => {
      const { frontier, gate, runs } = await setup({ dedup: 'run' });
      await runs.open('small', { ...OPTIONS, dedup: 'run' }, 'p');
      const hosts = Array.from({ length: 450 }, (_, n) => `paused-${n}.test`);
      await frontier.offer(
        'r',
        hosts.map((host) => page(1, host)),
      );
      await frontier.offer('small', pages(1, 3));
      for (const host of hosts) await gate.pause(host, 60_000, 'Retry-After');
      expect(urls(await frontier.release(ROOM))).toEqual(['a.test/1', 'a.test/2', 'a.test/3']);
      for (let look = 0; look < 3; look++) await frontier.release(ROOM);
      expect((await frontier.release(ROOM)).nextLookMs).toBe(60_000);
    });

    test('when more hosts are due than one look covers, recently asked hosts alternate with the longest waiting', async () => {
      const { frontier, step } = await setup({ intervalMs: 1_000 });
      const all = Array.from({ length: 1_500 }, (_, n) => `host-${String(n).padStart(4, '0')}.test`);
      for (const n of [1, 2]) {
        for (let from = 0; from < all.length; from += MAX_OFFER)
          await frontier.offer(
            'r',
            all.slice(from, from + MAX_OFFER).map((host) => page(n, host)),
          );
      }
      step(1);
      const first = await frontier.release({ ...ROOM, limit: 4 });
      expect(urls(first)).toEqual(['host-1499.test/1', 'host-0000.test/1', 'host-1498.test/1', 'host-0001.test/1']);
      step(1_000);
      const second = await frontier.release({ ...ROOM, limit: 8 });
      expect(urls(second).filter((_, n) => n % 2 === 0)).toEqual(
        urls(first)
          .map((url) => url.replace('/1', '/2'))
          .sort()
          .reverse(),
      );
      expect(urls(second).filter((_, n) => n % 2 === 1)).toEqual([2, 3, 4, 5].map((n) => `host-000${n}.test/1`));
    });

    test('one look passes over hundreds of paused hosts, and none of them is due again before its pause ends', async () => {
      const { frontier, gate, hosts, step } = await setup({ intervalMs: 1_000 });
      const paused = Array.from({ length: 500 }, (_, n) => `paused-${n}.test`);
      await frontier.offer(
        'r',
        paused.map((host) => page(1, host)),
      );
      for (const host of paused) await gate.pause(host, 60_000, 'Retry-After');
      step(1_000);
      await frontier.offer('r', pages(1, 2));
      expect(await hosts.due()).toBe(501);
      expect(urls(await frontier.release(ROOM)), 'it stands behind them').toEqual(['a.test/1']);
      expect(await hosts.due()).toBe(0);
      step(1_000);
      expect(await hosts.due(), 'its next slot').toBe(1);
      step(58_000);
      expect((await frontier.release(ROOM)).tasks.length).toBe(200);
    });

    test('one looker looks for all until its lease ends, unless its look was full', async () => {
      const { frontier, step } = await setup();
      await frontier.offer('r', pages(1, 6));
      const look = async (looker: string, limit = 200): Promise<[number, boolean]> => {
        const { tasks, isLeftToOther = false } = await frontier.release({ ...ROOM, limit, looker });
        return [tasks.length, isLeftToOther];
      };
      expect([await look('one', 2), await look('two', 3)], 'a full look keeps nobody away').toEqual([
        [2, false],
        [3, false],
      ]);
      expect(await look('one', 2), 'one less').toEqual([1, false]);
      await frontier.offer('r', pages(7, 9));
      step(249);
      expect(await look('two'), 'it leaves it to the other').toEqual([0, true]);
      expect((await frontier.release({ ...ROOM, looker: 'three' })).nextLookMs, 'which may be dead by then').toBe(1);
      expect((await frontier.release({ ...ROOM, limit: 1 })).tasks.length, 'who fills the window asks nobody').toBe(1);
      expect(await look('one'), 'the one that looks goes on').toEqual([2, false]);
      await frontier.offer('r', pages(10, 11));
      step(250);
      expect(await look('two')).toEqual([2, false]);
      expect(await look('one')).toEqual([0, true]);
    });
  });
}
