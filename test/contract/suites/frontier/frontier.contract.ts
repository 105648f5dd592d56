import { afterAll, describe, expect, test } from 'vitest';
import { MAX_OFFER, type Offer } from '../../../../shared/ports/frontier/frontier.ts';
import { MOST_STEP_COUNTS } from '../../../../shared/ports/runs.ts';
import { partsOf } from '../../../../shared/task/parts.ts';
import type { OpenStore } from '../../../support/stores/stores.ts';
import { OPTIONS, page, pages, ROOM, setupOf, urls } from './frontier-setup.ts';

/** The promises of every frontier, one test each. The model-based test searches for the cases nobody thought of. */
export function describeFrontier(name: string, open: OpenStore, close: () => Promise<void> = async () => {}): void {
  describe(`frontier: ${name}`, () => {
    afterAll(close);
    const setup = setupOf(open);

    test('a task goes from offer to done, and its run finishes when it is sealed and empty', async () => {
      const { frontier, runs } = await setup();
      expect(await frontier.offer('r', [page(1)])).toEqual({ accepted: 1, known: 0 });
      const { tasks } = await frontier.release(ROOM);
      expect(tasks).toMatchObject([
        { verdict: 'go', release: 1, task: { run: 'r', url: 'http://a.test/1', host: 'a.test' } },
      ]);
      await frontier.queued('r', [1]);
      expect(await frontier.admit('r', 1, 'w')).toMatchObject({ verdict: 'work', state: { attempts: 0, starts: 1 } });
      expect(await frontier.settle('r', 1, { outcome: { kind: 'done' }, bytes: 123 })).toBe('settled');
      expect(await runs.progress('r')).toMatchObject({
        ...{ state: 'running', sealed: false, done: 1, bytes: 123, bytesSaved: 0 },
        leftOut: { depth: 0, scope: 0, maxPages: 0, limit: 0, condition: 0 },
      });
      expect((await runs.progress('r'))?.reasons).toEqual({ failed: {}, skipped: {} });
      await runs.seal('r', 'p');
      expect(await runs.progress('r')).toMatchObject({ state: 'finished', sealed: true });
    });

    test('tasks released only to fail count once, with their reason, free their marks, and end their run', async () => {
      const { frontier, runs, step } = await setup();
      await runs.open('next', OPTIONS, 'p');
      await frontier.offer(
        'r',
        [1, 2, 3].map((n) => page(n, 'a.test', { deadlineMs: 1_000 })),
      );
      await runs.seal('r', 'p');
      step(1_000);
      expect((await frontier.release(ROOM)).tasks.map(({ verdict }) => verdict)).toEqual(Array(3).fill('deadline'));
      await frontier.settle('r', 1, { outcome: { kind: 'defer' } });
      await frontier.fail('r', [1, 2, 99], 'deadline');
      await frontier.fail('r', [2], 'deadline');
      expect(await runs.progress('r')).toMatchObject({
        ...{ state: 'running', waiting: 1, inFlight: 1, failed: 1 },
        reasons: { failed: { deadline: 1 } },
      });
      const again = await frontier.release(ROOM);
      await frontier.fail('r', [3, ...again.tasks.map(({ release }) => release)], 'deadline');
      expect(await runs.progress('r')).toMatchObject({
        ...{ state: 'finished', waiting: 0, inFlight: 0, failed: 3 },
        reasons: { failed: { deadline: 3 } },
      });
      expect(await frontier.offer('next', pages(1, 3))).toEqual({ accepted: 3, known: 0 });
    });

    test('links beyond `most` tasks of the run are left out and not marked; seeds are always taken', async () => {
      const { frontier, runs } = await setup();
      await frontier.offer('r', [page(1)]);
      const { tasks } = await frontier.release(ROOM);
      const links = [page(1), page(2), page(2), page(3), page(4)];
      const from = { parent: tasks[0]?.release ?? 0 };
      expect(await frontier.offer('r', links, { ...from, most: 2 })).toEqual({
        accepted: 1,
        known: 2,
        leftOut: { maxPages: 2 },
      });
      expect(await frontier.offer('r', links, { ...from, most: 2 })).toEqual({
        accepted: 0,
        known: 3,
        leftOut: { maxPages: 2 },
      });
      expect(await frontier.offer('r', links, { ...from, most: 9 })).toEqual({ accepted: 2, known: 3 });
      expect(await frontier.offer('r', [page(5)]), 'seeds are always taken').toEqual({ accepted: 1, known: 0 });
      expect(await runs.progress('r')).toMatchObject({
        discovered: 5,
        duplicate: 8,
        leftOut: { maxPages: 4, limit: 0 },
      });
    });

    test('a run with a limit takes its first seeds and links up to that number; the rest is counted but not marked', async () => {
      const { frontier, runs } = await setup();
      const limit = { limit: 3 };
      expect(await frontier.offer('r', pages(1, 2), limit)).toEqual({ accepted: 2, known: 0 });
      const { tasks } = await frontier.release(ROOM);
      const links = { ...limit, parent: tasks[0]?.release ?? 0, most: 3 };
      const last = { accepted: 1, known: 1, leftOut: { limit: 2 } };
      expect(await frontier.offer('r', pages(2, 5), links)).toEqual(last);
      expect(await frontier.offer('r', [page(3), page(6)], limit), 'a seed').toEqual({
        accepted: 0,
        known: 1,
        leftOut: { limit: 1 },
      });
      expect(await frontier.offer('r', [page(6)], { ...limit, repeat: true }), 'counted once').toMatchObject({
        leftOut: { limit: 1 },
      });
      expect(await runs.progress('r')).toMatchObject({ discovered: 3, leftOut: { limit: 3, maxPages: 0 } });
      expect(await frontier.offer('r', [page(6)])).toEqual({ accepted: 1, known: 0 });
    });

    test('links that a page left out are counted once, with its outcome', async () => {
      const { frontier, runs } = await setup();
      await frontier.offer('r', [page(1)]);
      const { tasks } = await frontier.release(ROOM);
      const release = tasks[0]?.release ?? 0;
      const settlement = { outcome: { kind: 'done' }, leftOut: { depth: 7, scope: 2, condition: 3 } } as const;
      expect(await frontier.settle('r', release, settlement)).toBe('settled');
      expect(await frontier.settle('r', release, settlement)).toBe('already');
      await frontier.offer('r', [page(2)]);
      await frontier.release(ROOM);
      const leftOut = { depth: 1, scope: 1, condition: 1 };
      await frontier.settle('r', release + 1, { outcome: { kind: 'done' }, leftOut, bytes: 1 });
      expect(await runs.progress('r')).toMatchObject({
        ...{ bytes: 1, leftOut: { depth: 8, scope: 3, maxPages: 0, limit: 0, condition: 4 } },
      });
    });

    test('tasks are counted by the step in their mark; a malformed text counts for no step', async () => {
      const { frontier, runs } = await setup();
      const at = (n: number, step: string) => {
        const offer = page(n);
        return 'mark' in offer ? { ...offer, step, mark: `${step} ${offer.mark}` } : offer;
      };
      const text = { malformed: 'product of nothing', problem: 'it is no URL' };
      await frontier.offer('r', [page(1), at(1, 'product'), at(2, 'product'), at(3, 'product'), at(1, 'review'), text]);
      const outcomes = [
        { kind: 'done' },
        { kind: 'skipped', reason: 'robots' },
        { kind: 'failed', reason: 'step' },
      ] as const;
      for (const { task, release } of (await frontier.release(ROOM)).tasks) {
        const outcome = outcomes[Number(task.url.slice(-1)) - 1] ?? { kind: 'failed', reason: 'malformed' };
        await frontier.settle('r', release, { outcome });
        await frontier.settle('r', release, { outcome });
      }
      expect(await runs.progress('r')).toMatchObject({ discovered: 6, done: 3, failed: 2 });
      expect((await runs.progress('r'))?.steps).toEqual({
        product: { discovered: 3, done: 1, skipped: 1, failed: 1 },
        review: { discovered: 1, done: 1, skipped: 0, failed: 0 },
      });
    });

    test('a run counts the first thousand steps that it meets, and its tasks of other steps in its totals alone', async () => {
      const { frontier, runs } = await setup();
      const offers = Array.from({ length: MOST_STEP_COUNTS + 1 }, (_, n) => {
        const step = `step${n}`;
        return { ...page(n), step, mark: `${step} http://a.test/${n}` } as Offer;
      });
      for (const some of partsOf(offers, MAX_OFFER)) await frontier.offer('r', some);
      const progress = await runs.progress('r');
      expect(progress?.discovered).toBe(offers.length);
      expect(Object.keys(progress?.steps ?? {}).length).toBe(MOST_STEP_COUNTS);
    });

    test('links to hosts of a domain beyond `mostHosts` are counted as out of scope and not marked', async () => {
      const { frontier, runs } = await setup();
      const linkTo = (host: string, n: number, domain = 'a.test') => ({ ...page(n, host), domain });
      const wild = (from: number, to: number, n = 1) =>
        Array.from({ length: to - from + 1 }, (_, i) => linkTo(`h${from + i}.a.test`, n));
      const most = { mostHosts: 3 };
      expect(await frontier.offer('r', wild(1, 5), most)).toEqual({ accepted: 3, known: 0, leftOut: { scope: 2 } });
      expect(await frontier.offer('r', wild(1, 4), most), 'what is known is').toEqual({
        accepted: 0,
        known: 3,
        leftOut: { scope: 1 },
      });
      expect(await frontier.offer('r', wild(1, 4, 2), most), 'a host that it has').toEqual({
        accepted: 3,
        known: 0,
        leftOut: { scope: 1 },
      });
      expect(await frontier.offer('r', [linkTo('h9.b.test', 1, 'b.test')], most)).toEqual({ accepted: 1, known: 0 });
      expect(await frontier.offer('r', [page(1, 'h5.a.test')], most), 'a seed').toEqual({ accepted: 1, known: 0 });
      expect(await frontier.offer('r', wild(7, 8)), 'without a limit').toEqual({ accepted: 2, known: 0 });
      await runs.open('other', { ...OPTIONS, dedup: 'run' }, 'p');
      expect(await frontier.offer('other', wild(4, 5), most)).toEqual({ accepted: 2, known: 0 });
      const changed = { ...linkTo('h6.a.test', 1), changedAt: 5 };
      expect(await frontier.offer('r', [changed], most)).toEqual({ accepted: 0, known: 0, leftOut: { scope: 1 } });
      expect(await runs.progress('r')).toMatchObject({ discovered: 10, leftOut: { scope: 5 } });
    });

    test('a released task has the URL as it was written, its depth and its step', async () => {
      const { frontier } = await setup();
      const task = {
        url: 'http://a.test/%7euser',
        mark: 'detail http://a.test/~user',
        host: 'a.test',
        step: 'detail',
        depth: 2,
        within: 'a.test/',
      };
      await frontier.offer('r', [{ ...task, queue: 'priority' }]);
      const { tasks } = await frontier.release(ROOM);
      expect(tasks[0]?.task).toEqual({ ...task, run: 'r', queue: 'priority' });
    });

    test('a known URL is dropped as a duplicate, in the next run too; a run with its own marks takes it', async () => {
      const { frontier, runs } = await setup();
      await frontier.offer('r', pages(1, 3));
      expect(await frontier.offer('r', pages(2, 4))).toEqual({ accepted: 1, known: 2 });
      await runs.open('next', OPTIONS, 'p');
      expect(await frontier.offer('next', pages(1, 4))).toEqual({ accepted: 0, known: 4 });
      await runs.open('fresh', { ...OPTIONS, dedup: 'run' }, 'p');
      expect(await frontier.offer('fresh', pages(1, 4))).toEqual({ accepted: 4, known: 0 });
      expect(await runs.progress('r')).toMatchObject({ discovered: 4, duplicate: 2 });
    });

    test('a repeated offer counts no duplicates', async () => {
      const { frontier, runs } = await setup();
      await frontier.offer('r', pages(1, 3));
      await frontier.offer('r', pages(1, 3), { repeat: true });
      expect(await runs.progress('r')).toMatchObject({ discovered: 3, duplicate: 0 });
    });

    test('a failed URL is refused by its own run and taken by the next', async () => {
      const { frontier, runs } = await setup();
      await frontier.offer('r', [page(1)]);
      await frontier.release(ROOM);
      await frontier.settle('r', 1, { outcome: { kind: 'failed', reason: 'http_4xx' } });
      expect(await frontier.offer('r', [page(1)])).toEqual({ accepted: 0, known: 1 });
      await runs.open('next', OPTIONS, 'p');
      expect(await frontier.offer('next', [page(1)])).toEqual({ accepted: 1, known: 0 });
      expect((await runs.progress('r'))?.reasons).toEqual({ failed: { http_4xx: 1 }, skipped: {} });
    });

    test('links are refused when their page is no longer in flight under that release', async () => {
      const { frontier } = await setup();
      await frontier.offer('r', [page(1)]);
      await frontier.release(ROOM);
      expect(await frontier.offer('r', [page(2)], { parent: 1 })).toEqual({ accepted: 1, known: 0 });
      await frontier.settle('r', 1, { outcome: { kind: 'done' } });
      expect(await frontier.offer('r', [page(3)], { parent: 1 })).toEqual({ refused: 'parent' });
    });

    test('a task put back goes to the head of its list and gets a new release number', async () => {
      const { frontier } = await setup();
      await frontier.offer('r', pages(1, 3));
      await frontier.release({ ...ROOM, limit: 1 });
      await frontier.admit('r', 1, 'w');
      await frontier.settle('r', 1, { outcome: { kind: 'defer' } });
      const again = await frontier.release({ ...ROOM, limit: 1 });
      expect(urls(again)).toEqual(['a.test/1']);
      expect(again.tasks[0]).toMatchObject({ release: 2, state: { attempts: 0, starts: 0, throttles: 0 } });
      expect(await frontier.admit('r', 1, 'w')).toEqual({ verdict: 'gone' });
      expect(await frontier.settle('r', 1, { outcome: { kind: 'done' } })).toBe('already');
    });

    test('a retry counts an attempt and is released when its delay is over', async () => {
      const { frontier, step, runs } = await setup();
      await frontier.offer('r', [page(1)]);
      await frontier.release(ROOM);
      await frontier.admit('r', 1, 'w');
      await frontier.settle('r', 1, { outcome: { kind: 'retry', reason: 'timeout', inMs: 5_000 } });
      expect(await runs.progress('r')).toMatchObject({ waiting: 1, inFlight: 0 });
      step(4_999);
      const early = await frontier.release(ROOM);
      expect([early.tasks, early.nextLookMs]).toEqual([[], 1]);
      step(1);
      expect((await frontier.release(ROOM)).tasks).toMatchObject([{ state: { attempts: 1, starts: 0 } }]);
    });

    test('a deferral with a delay waits for it, costs no attempt and does not hold up other tasks of its host', async () => {
      const { frontier, step } = await setup();
      await frontier.offer('r', pages(1, 2));
      await frontier.release({ ...ROOM, limit: 1 });
      await frontier.settle('r', 1, { outcome: { kind: 'defer', inMs: 5_000 } });
      expect(urls(await frontier.release(ROOM))).toEqual(['a.test/2']);
      step(4_999);
      expect((await frontier.release(ROOM)).tasks).toEqual([]);
      step(1);
      expect((await frontier.release(ROOM)).tasks).toMatchObject([{ release: 3, state: { attempts: 0, starts: 0 } }]);
    });

    test('a paused run releases nothing, puts deliveries back and still accepts seeds', async () => {
      const { frontier, runs } = await setup();
      await frontier.offer('r', pages(1, 3));
      await frontier.release({ ...ROOM, limit: 1 });
      await runs.pause('r');
      expect(await frontier.admit('r', 1, 'w')).toEqual({ verdict: 'put_back' });
      expect((await frontier.release(ROOM)).tasks).toEqual([]);
      expect(await frontier.offer('r', [page(4)]), 'seeds still come').toEqual({ accepted: 1, known: 0 });
      await runs.resume('r');
      expect((await frontier.release(ROOM)).tasks.length).toBe(4);
    });

    test('cancelling drains waiting tasks, counts tasks in flight as they come back and frees their marks', async () => {
      const { frontier, runs } = await setup();
      await frontier.offer('r', pages(1, 7));
      await frontier.release({ ...ROOM, limit: 5 });
      const failed = { outcome: { kind: 'retry', reason: 'timeout', inMs: 60_000 } } as const;
      for (const release of [1, 5]) await frontier.settle('r', release, failed);
      await runs.cancel('r');
      expect(await frontier.drain(), 'two that were never released, and two retries').toBe(4);
      expect(await frontier.settle('r', 2, { outcome: { kind: 'done' } })).toBe('settled');
      expect(await frontier.admit('r', 3, 'w')).toEqual({ verdict: 'cancelled' });
      await frontier.settle('r', 4, failed);
      expect(await runs.progress('r'), 'with no second drain').toMatchObject({
        state: 'cancelled',
        done: 1,
        cancelled: 6,
        waiting: 0,
        inFlight: 0,
      });
      expect((await runs.progress('r'))?.endedAt).toBeDefined();
      await runs.open('next', OPTIONS, 'p');
      expect(await frontier.offer('next', pages(1, 7))).toEqual({ accepted: 6, known: 1 });
      expect(await runs.open('r', OPTIONS, 'p')).toMatchObject({ how: 'cancelled' });
    });

    test('a delivery of a run that the store does not know is admitted as `unknown_run`', async () => {
      const { frontier, runs } = await setup();
      expect(await frontier.admit('lost', 1, 'w')).toEqual({ verdict: 'unknown_run' });
      expect(await runs.progress('lost')).toBeUndefined();
    });
  });
}
