import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { ALONE_FROM_STARTS, MAX_STARTS, type Offer, type Release } from '../../shared/frontier.ts';
import type { RunOptions } from '../../shared/runs.ts';
import type { OpenStore, Store } from '../support/stores.ts';

const OPTIONS: RunOptions = {
  crawler: 'page',
  dedup: 'ever',
  intervalMs: 0,
  maxAttempts: 3,
  follow: false,
  maxDepth: 3,
  content: 'none',
};
const ROOM = { limit: 200, window: 1_000, unpaced: false };

function page(n: number | string, host = 'a.test', extra: { deadlineMs?: number; queue?: 'priority' } = {}): Offer {
  const url = `http://${host}/${n}`;
  return { url, mark: url, host, step: '', depth: 0, queue: 'normal', ...extra };
}

function pages(from: number, to: number, host?: string): Offer[] {
  return Array.from({ length: to - from + 1 }, (_, i) => page(from + i, host));
}

function urls({ tasks }: Release): string[] {
  return tasks.map(({ task }) => task.url.replace('http://', ''));
}

function releases({ tasks }: Release): number[] {
  return tasks.map(({ release }) => release);
}

/** What every frontier promises, said one by one; the model beside it looks for what nobody thought of. */
export function describeFrontier(name: string, open: OpenStore, close: () => Promise<void> = async () => {}): void {
  describe(`frontier: ${name}`, () => {
    afterAll(close);

    async function setup(options: Partial<RunOptions> = {}, policy: Parameters<OpenStore>[0] = {}): Promise<Store> {
      const store = await open(policy);
      onTestFinished(() => store.close());
      await store.runs.open('r', { ...OPTIONS, ...options }, 'p');
      return store;
    }

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
      expect(await runs.progress('r')).toMatchObject({ state: 'running', sealed: false, done: 1, bytes: 123 });
      await runs.seal('r', 'p');
      expect(await runs.progress('r')).toMatchObject({ state: 'finished', sealed: true });
    });

    test('the URL as it was written, its depth and its step come back from the frontier', async () => {
      const { frontier } = await setup();
      const task = {
        url: 'http://a.test/%7euser',
        mark: 'detail http://a.test/~user',
        host: 'a.test',
        step: 'detail',
        depth: 2,
      };
      await frontier.offer('r', [{ ...task, queue: 'priority' }]);
      const { tasks } = await frontier.release(ROOM);
      expect(tasks[0]?.task).toEqual({ ...task, run: 'r', queue: 'priority' });
    });

    test('a known URL is counted and dropped, in the next run too; a run with marks of its own takes it', async () => {
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

    test('a failed URL is not taken again by its run, but by the next', async () => {
      const { frontier, runs } = await setup();
      await frontier.offer('r', [page(1)]);
      await frontier.release(ROOM);
      await frontier.settle('r', 1, { outcome: { kind: 'failed', reason: 'http_4xx' } });
      expect(await frontier.offer('r', [page(1)])).toEqual({ accepted: 0, known: 1 });
      await runs.open('next', OPTIONS, 'p');
      expect(await frontier.offer('next', [page(1)])).toEqual({ accepted: 1, known: 0 });
      expect((await runs.progress('r'))?.reasons).toEqual({ failed: { http_4xx: 1 }, skipped: {} });
    });

    test('a malformed text is released to be failed, and stays known', async () => {
      const { frontier, runs } = await setup();
      const offer: Offer = { malformed: 'ht!tp:/x\ty', problem: 'it is not a valid URL' };
      await frontier.offer('r', [offer]);
      const { tasks } = await frontier.release(ROOM);
      expect(tasks).toMatchObject([
        { verdict: 'malformed', problem: 'it is not a valid URL', task: { url: 'ht!tp:/x y' } },
      ]);
      await frontier.settle('r', 1, { outcome: { kind: 'failed', reason: 'malformed' } });
      await runs.open('next', OPTIONS, 'p');
      expect(await frontier.offer('next', [offer])).toEqual({ accepted: 0, known: 1 });
    });

    test('links are refused when their page is no longer in flight under that release', async () => {
      const { frontier } = await setup();
      await frontier.offer('r', [page(1)]);
      await frontier.release(ROOM);
      expect(await frontier.offer('r', [page(2)], { parent: 1 })).toEqual({ accepted: 1, known: 0 });
      await frontier.settle('r', 1, { outcome: { kind: 'done' } });
      expect(await frontier.offer('r', [page(3)], { parent: 1 })).toEqual({ refused: 'parent' });
    });

    test('a finished run takes nothing until it is opened again', async () => {
      const { frontier, runs } = await setup();
      await runs.seal('r', 'p');
      expect(await frontier.offer('r', [page(1)])).toEqual({ refused: 'run' });
      expect(await runs.open('r', OPTIONS, 'p2')).toMatchObject({ how: 'reopened' });
      expect(await frontier.offer('r', [page(1)])).toEqual({ accepted: 1, known: 0 });
      expect(await runs.progress('r')).toMatchObject({ state: 'running', sealed: false });
    });

    test('a lost producer does not seal its run; sealing by hand does', async () => {
      const { runs, step } = await setup();
      step(61_000);
      expect(await runs.progress('r')).toMatchObject({ state: 'running', producers: { open: 0, lost: 1 } });
      await runs.seal('r');
      expect(await runs.progress('r')).toMatchObject({ state: 'finished' });
    });

    test('a producer that takes over from a lost one ends its run; one that only joins does not', async () => {
      const { runs, step } = await setup();
      await runs.open('r', OPTIONS, 'alive');
      step(59_000);
      await runs.beat('r', 'alive');
      step(2_000);
      await runs.open('r', OPTIONS, 'guest');
      expect(await runs.progress('r')).toMatchObject({ producers: { open: 2, lost: 1 } });
      await runs.open('r', OPTIONS, 'heir', { takesOver: true });
      expect(await runs.progress('r')).toMatchObject({ producers: { open: 3, lost: 0 } });
      for (const producer of ['guest', 'heir', 'alive']) await runs.seal('r', producer);
      expect(await runs.progress('r')).toMatchObject({ state: 'finished' });
    });

    test('a priority task goes before the others of its host', async () => {
      const { frontier } = await setup();
      await frontier.offer('r', [page(1), page(2), page('news', 'a.test', { queue: 'priority' })]);
      expect(urls(await frontier.release({ ...ROOM, limit: 2 }))).toEqual(['a.test/news', 'a.test/1']);
    });

    test('a paced host is released one second ahead of its slots', async () => {
      const { frontier, step } = await setup({ intervalMs: 400 });
      await frontier.offer('r', pages(1, 10));
      expect(urls(await frontier.release(ROOM))).toEqual(['a.test/1', 'a.test/2', 'a.test/3']);
      expect((await frontier.release(ROOM)).tasks).toEqual([]);
      step(1_000);
      expect(urls(await frontier.release(ROOM))).toEqual(['a.test/4', 'a.test/5', 'a.test/6']);
    });

    test('says when to look again', async () => {
      const { frontier } = await setup({ intervalMs: 10_000 });
      await frontier.offer('r', pages(1, 3));
      await frontier.release(ROOM);
      const { nextLookMs } = await frontier.release(ROOM);
      expect(nextLookMs).toBeGreaterThanOrEqual(9_000);
      expect(nextLookMs).toBeLessThanOrEqual(9_500);
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

    test('a host moves at the slowest rate of the runs that name it', async () => {
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

    test('a run that no worker has touched is released without waiting for pace while no worker is alive', async () => {
      const { frontier } = await setup({ intervalMs: 60_000 });
      await frontier.offer('r', pages(1, 300));
      const alone = { ...ROOM, unpaced: true };
      const counts = [(await frontier.release(alone)).tasks.length, (await frontier.release(alone)).tasks.length];
      expect(counts).toEqual([200, 100]);
      await frontier.admit('r', 1, 'w');
      await frontier.offer('r', pages(301, 400));
      expect((await frontier.release(alone)).tasks.length).toBe(1);
    });

    test('no more than the window is out, shared by the runs that want some', async () => {
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

    test('a task put back goes to the head of its list, and its number changes', async () => {
      const { frontier } = await setup();
      await frontier.offer('r', pages(1, 3));
      await frontier.release({ ...ROOM, limit: 1 });
      await frontier.admit('r', 1, 'w');
      await frontier.settle('r', 1, { outcome: { kind: 'defer' } });
      const again = await frontier.release({ ...ROOM, limit: 1 });
      expect(urls(again)).toEqual(['a.test/1']);
      expect(again.tasks[0]).toMatchObject({ release: 2, state: { attempts: 0, starts: 0 } });
      expect(await frontier.admit('r', 1, 'w')).toEqual({ verdict: 'gone' });
      expect(await frontier.settle('r', 1, { outcome: { kind: 'done' } })).toBe('already');
    });

    test('a retry counts an attempt and waits its time', async () => {
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

    test('a deferral with a time of its own waits for it at no attempt, and holds up nobody else of its host', async () => {
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

    test('a host that asked us to wait is quiet for all runs, and its tasks cost nothing', async () => {
      const { frontier, runs, step } = await setup({ dedup: 'run' });
      await runs.open('s', { ...OPTIONS, dedup: 'run' }, 'p');
      await frontier.offer('r', pages(1, 3));
      await frontier.offer('s', [...pages(4, 6), page(1, 'b.test')]);
      const first = await frontier.release({ ...ROOM, limit: 1 });
      await frontier.admit('r', 1, 'w');
      const pause = { pauseMs: 120_000, reason: 'Retry-After' };
      await frontier.settle('r', 1, { outcome: { kind: 'defer', host: pause }, hostAnswered: false });
      expect(urls(first)).toEqual(['a.test/1']);
      expect(urls(await frontier.release(ROOM))).toEqual(['b.test/1']);
      expect(await runs.hosts('r', 9)).toMatchObject([
        { host: 'a.test', waiting: 3, pausedMs: 120_000, reason: 'Retry-After' },
      ]);
      step(120_000);
      expect(urls(await frontier.release(ROOM))).toEqual([
        'a.test/1',
        'a.test/2',
        'a.test/3',
        'a.test/4',
        'a.test/5',
        'a.test/6',
      ]);
    });

    test('deliveries of a paused host are put back by admit, at no attempt', async () => {
      const { frontier, gate, runs, step } = await setup();
      await frontier.offer('r', pages(1, 2));
      await frontier.release(ROOM);
      await gate.pause('a.test', 60_000, 'asked to');
      expect(await frontier.admit('r', 1, 'w')).toEqual({ verdict: 'put_back' });
      expect(await runs.progress('r')).toMatchObject({ waiting: 1, inFlight: 1 });
      step(60_000);
      expect((await frontier.release(ROOM)).tasks).toMatchObject([{ state: { attempts: 0 } }]);
    });

    test('from the fourth throttled answer on, a task lets others of its host go first', async () => {
      const { frontier, step } = await setup();
      await frontier.offer('r', pages(1, 2));
      const throttled = { outcome: { kind: 'defer', host: { pauseMs: 1_000, reason: '429' } } } as const;
      const tried: string[] = [];
      for (let i = 1; i <= 5; i++) {
        tried.push(...urls(await frontier.release({ ...ROOM, limit: 1 })));
        await frontier.admit('r', i, 'w');
        await frontier.settle('r', i, throttled);
        step(1_000);
      }
      expect(tried).toEqual(['a.test/1', 'a.test/1', 'a.test/1', 'a.test/1', 'a.test/2']);
    });

    test('a host with nothing but errors for too long is down, and one answer clears it', async () => {
      const { frontier, step } = await setup({}, { giveUpMs: 600_000 });
      await frontier.offer('r', [...pages(1, 9), ...pages(1, 2, 'b.test')]);
      const fail = async (release: number): Promise<void> => {
        await frontier.settle('r', release, {
          outcome: { kind: 'retry', reason: 'connection', inMs: 1_000 },
          hostAnswered: false,
        });
      };
      await frontier.release({ ...ROOM, limit: 2 });
      await fail(1);
      step(599_000);
      await fail(2);
      step(1_000);
      const { tasks } = await frontier.release(ROOM);
      expect(tasks.filter(({ verdict }) => verdict === 'host_down').map(({ task }) => task.host)).toEqual(
        Array(9).fill('a.test'),
      );
      expect(tasks.filter(({ verdict }) => verdict === 'go').map(({ task }) => task.host)).toEqual([
        'b.test',
        'b.test',
      ]);
    });

    test('a run ends even when its host asks to wait longer than it may be in trouble', async () => {
      const { frontier, step } = await setup({}, { giveUpMs: 60_000 });
      await frontier.offer('r', pages(1, 2));
      await frontier.release({ ...ROOM, limit: 1 });
      const pause = { pauseMs: 3_600_000, reason: 'Retry-After' };
      await frontier.settle('r', 1, { outcome: { kind: 'defer', host: pause }, hostAnswered: false });
      expect((await frontier.release(ROOM)).nextLookMs).toBeLessThanOrEqual(60_000);
      step(60_000);
      const { tasks } = await frontier.release(ROOM);
      expect(tasks.map(({ verdict }) => verdict)).toEqual(['host_down', 'host_down']);
    });

    test('a host in trouble before a long silence of ours is asked once more', async () => {
      const { frontier, step } = await setup({}, { giveUpMs: 60_000 });
      await frontier.offer('r', pages(1, 2));
      await frontier.release({ ...ROOM, limit: 1 });
      await frontier.settle('r', 1, {
        outcome: { kind: 'retry', reason: 'timeout', inMs: 1_000 },
        hostAnswered: false,
      });
      step(8 * 3_600_000);
      expect((await frontier.release(ROOM)).tasks.map(({ verdict }) => verdict)).toEqual(['go', 'go']);
    });

    test('past its deadline a task is found so by release and by admit', async () => {
      const { frontier, step } = await setup();
      await frontier.offer('r', [page(1, 'a.test', { deadlineMs: 10_000 }), page(2, 'a.test', { deadlineMs: 10_000 })]);
      await frontier.release({ ...ROOM, limit: 1 });
      step(10_000);
      expect(await frontier.admit('r', 1, 'w')).toMatchObject({ verdict: 'deadline' });
      expect((await frontier.release(ROOM)).tasks).toMatchObject([{ verdict: 'deadline', release: 2 }]);
    });

    test('leases: publishing 60 s, queued TTL and 5 min or deadline and 1 min, working 60 s and renewed', async () => {
      const { frontier, step } = await setup({}, { normalTtlMs: 3_600_000 });
      await frontier.offer('r', [...pages(1, 3), page(4, 'a.test', { deadlineMs: 600_000 })]);
      await frontier.release(ROOM);
      await frontier.queued('r', [2, 3, 4]);
      await frontier.admit('r', 3, 'w');
      step(59_999);
      expect(await frontier.reap()).toBe(0);
      step(1);
      expect(await frontier.reap(), 'publishing and working').toBe(2);
      expect(releases(await frontier.release(ROOM))).toEqual([5, 6]);
      await frontier.admit('r', 5, 'w');
      step(40_000);
      await frontier.renew('r', [5]);
      step(59_000);
      expect(await frontier.reap(), 'the renewed one stays').toBe(1);
      step(501_000);
      expect(await frontier.reap(), 'the deadline and a minute, and the worker that fell silent').toBe(2);
      step(3_239_999);
      expect(await frontier.reap(), 'the rest was put back, the queued one holds').toBe(0);
      step(1);
      expect(await frontier.reap(), 'TTL and 5 minutes').toBe(1);
    });

    test('after a broker was wiped, queued tasks wait again at once; late deliveries are dropped, the rest stays', async () => {
      const { frontier, runs } = await setup();
      await frontier.offer('r', pages(1, 700));
      for (let n = 0; n < 4; n++) await frontier.release(ROOM);
      await frontier.queued(
        'r',
        Array.from({ length: 690 }, (_, i) => i + 1),
      );
      await frontier.admit('r', 5, 'w');
      let [ended, next]: [number, string | undefined] = [0, undefined];
      do {
        const part = await frontier.endQueued('r', next);
        ended += part.ended;
        next = part.next;
      } while (next !== undefined);
      expect(ended, 'all but the one that is worked on, and those being published').toBe(689);
      expect(await runs.progress('r')).toMatchObject({ waiting: 689, inFlight: 11 });
      expect(await frontier.admit('r', 1, 'w')).toEqual({ verdict: 'gone' });
      const again = await frontier.release({ ...ROOM, limit: 1 });
      expect(again.tasks).toMatchObject([{ release: 701, state: { attempts: 0, starts: 0 } }]);
      expect(await frontier.settle('r', 5, { outcome: { kind: 'done' } })).toBe('settled');
      expect(await frontier.endQueued('unknown')).toEqual({ ended: 0, next: undefined });
    });

    test('handed over without an ack: the lease is a minute, whenever the confirm is heard of, and no start is counted', async () => {
      const { frontier, step } = await setup();
      await frontier.offer('r', pages(1, 3));
      await frontier.release(ROOM);
      await frontier.queued('r', [1]);
      await frontier.handed('r', [1, 2, 99]);
      await frontier.queued('r', [2, 3]);
      expect(await frontier.endQueued('r'), 'only what the broker has').toMatchObject({ ended: 1 });
      step(59_999);
      expect(await frontier.reap()).toBe(0);
      expect(await frontier.admit('r', 1, 'w')).toMatchObject({ verdict: 'work', state: { starts: 1 } });
      step(1);
      expect(await frontier.reap()).toBe(1);
      expect(await frontier.admit('r', 2, 'w')).toEqual({ verdict: 'gone' });
    });

    test('a task that never settles runs alone from its third start and is a crash loop after its sixth', async () => {
      const { frontier, step } = await setup();
      await frontier.offer('r', [page(1)]);
      const starts: number[] = [];
      for (let release = 1; release <= MAX_STARTS; release++) {
        await frontier.release(ROOM);
        const admission = await frontier.admit('r', release, 'w');
        if (admission.verdict === 'work') starts.push(admission.state.starts);
        step(60_000);
        await frontier.reap();
      }
      expect(starts).toEqual([1, 2, ALONE_FROM_STARTS, 4, 5, MAX_STARTS]);
      await frontier.release(ROOM);
      expect(await frontier.admit('r', MAX_STARTS + 1, 'w')).toMatchObject({ verdict: 'crash_loop' });
    });

    test('a redelivered release is taken over, and whoever settles first wins', async () => {
      const { frontier } = await setup();
      await frontier.offer('r', [page(1)]);
      await frontier.release(ROOM);
      await frontier.admit('r', 1, 'first');
      expect(await frontier.admit('r', 1, 'second')).toMatchObject({ verdict: 'work', state: { starts: 2 } });
      const settled = await Promise.all(
        ['first', 'second'].map(() => frontier.settle('r', 1, { outcome: { kind: 'done' } })),
      );
      expect(settled.toSorted()).toEqual(['already', 'settled']);
    });

    test('a paused run releases nothing, and deliveries in hand are put back', async () => {
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

    test('cancel: what waits is drained, what is in flight counts when it comes back, and the marks are free', async () => {
      const { frontier, runs } = await setup();
      await frontier.offer('r', pages(1, 5));
      await frontier.release({ ...ROOM, limit: 3 });
      await frontier.settle('r', 1, { outcome: { kind: 'retry', reason: 'timeout', inMs: 60_000 } });
      await runs.cancel('r');
      expect(await frontier.drain()).toBe(3);
      expect(await frontier.settle('r', 2, { outcome: { kind: 'done' } })).toBe('settled');
      expect(await frontier.admit('r', 3, 'w')).toEqual({ verdict: 'cancelled' });
      expect(await runs.progress('r')).toMatchObject({
        state: 'cancelled',
        done: 1,
        cancelled: 4,
        waiting: 0,
        inFlight: 0,
      });
      expect((await runs.progress('r'))?.endedAt).toBeDefined();
      await runs.open('next', OPTIONS, 'p');
      expect(await frontier.offer('next', pages(1, 5))).toEqual({ accepted: 4, known: 1 });
      expect(await runs.open('r', OPTIONS, 'p')).toMatchObject({ how: 'cancelled' });
    });

    test('a run that the store does not know is worked without a ledger', async () => {
      const { frontier, runs } = await setup();
      expect(await frontier.admit('lost', 1, 'w')).toEqual({ verdict: 'unknown_run' });
      expect(await runs.progress('lost')).toBeUndefined();
    });

    test('joining a run keeps its own options', async () => {
      const { runs } = await setup({ maxAttempts: 7 });
      expect(await runs.open('r', OPTIONS, 'p2')).toMatchObject({ how: 'joined', options: { maxAttempts: 7 } });
      expect(await runs.list(5)).toEqual(['r']);
    });
  });
}
