import { afterAll, describe, expect, test } from 'vitest';
import type { Settlement } from '../../../../shared/ports/frontier/frontier.ts';
import type { OpenStore } from '../../../support/stores/stores.ts';
import { OPTIONS, page, pages, ROOM, setupOf, urls } from '../frontier/frontier-setup.ts';

/** The promises of every frontier about hosts that asked us to wait or give nothing but errors. */
export function describeQuietHosts(name: string, open: OpenStore, close: () => Promise<void> = async () => {}): void {
  describe(`quiet hosts: ${name}`, () => {
    afterAll(close);
    const setup = setupOf(open);

    test('a host that asked us to wait is left alone by all runs, and its tasks stay in order', async () => {
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

    test('a run that starts while no other is open waits for a host that asked for it, or that a person has paused', async () => {
      const { frontier, gate, runs } = await setup();
      await gate.pause('a.test', 60_000, 'Retry-After');
      await gate.pauseByHand('b.test', 'by hand');
      await runs.cancel('r');
      expect(await runs.counts()).toMatchObject({ open: 0 });
      await runs.open('next', OPTIONS, 'p');
      await frontier.offer('next', [page(1), page(1, 'b.test'), page(1, 'c.test')]);
      expect(urls(await frontier.release(ROOM))).toEqual(['c.test/1']);
      expect([await gate.stillOpen('a.test'), await gate.stillOpen('b.test')]).toEqual([false, false]);
    });

    test('a delivery for a paused host is put back on admission, at no attempt', async () => {
      const { frontier, gate, runs, step } = await setup();
      await frontier.offer('r', pages(1, 2));
      await frontier.release(ROOM);
      await gate.pause('a.test', 60_000, 'asked to');
      expect(await frontier.admit('r', 1, 'w')).toEqual({ verdict: 'put_back' });
      expect(await runs.progress('r')).toMatchObject({ waiting: 1, inFlight: 1 });
      step(60_000);
      expect((await frontier.release(ROOM)).tasks).toMatchObject([{ state: { attempts: 0 } }]);
    });

    test('a task lets others of its host go first after its fourth throttled answer', async () => {
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

    test('a page throttled while its host answers others waits alone, and the host stays open', async () => {
      const { frontier, gate, step } = await setup();
      await frontier.offer('r', pages(1, 3));
      let release = 0;
      const admitted = async () => {
        const [next] = (await frontier.release({ ...ROOM, limit: 1 })).tasks;
        const admission = await frontier.admit('r', ++release, 'w');
        if (admission.verdict !== 'work') throw new Error(admission.verdict);
        return [next?.task.url.slice('http://'.length), admission.state.throttles, admission.answersOthers];
      };
      const told = { outcome: { kind: 'defer', host: { reason: 'HTTP 429' } }, hostAnswered: false } as const;
      const alone = { outcome: { kind: 'defer', inMs: 30_000, throttled: true }, hostAnswered: false } as const;
      expect(await admitted()).toEqual(['a.test/1', 0, false]);
      await frontier.settle('r', release, told);
      expect(await gate.stillOpen('a.test')).toBe(false);
      step(15_000);
      expect(await admitted(), 'others are to find out what was meant').toEqual(['a.test/2', 0, false]);
      await frontier.settle('r', release, { outcome: { kind: 'done' }, hostAnswered: true });
      expect(await admitted()).toEqual(['a.test/3', 0, true]);
      await frontier.settle('r', release, { outcome: { kind: 'done' }, hostAnswered: true });
      expect(await admitted()).toEqual(['a.test/1', 1, true]);
      await frontier.settle('r', release, alone);
      expect(await gate.stillOpen('a.test')).toBe(true);
      await frontier.offer('r', pages(4, 5));
      expect(await admitted()).toEqual(['a.test/4', 0, true]);
      await frontier.settle('r', release, alone);
      step(30_000);
      expect(await admitted()).toEqual(['a.test/1', 2, true]);
      await frontier.settle('r', release, { outcome: { kind: 'done' }, hostAnswered: true });
      step(3_600_000);
      expect(await admitted(), 'after an hour that is forgotten').toEqual(['a.test/4', 1, false]);
    });

    test('a host that gave nothing but errors for the give-up time is down; other hosts go on', async () => {
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

    test('one answer clears a host in trouble: its give-up time begins again with the next error', async () => {
      const { frontier, step } = await setup({}, { giveUpMs: 600_000 });
      await frontier.offer('r', pages(1, 9));
      const fails = { outcome: { kind: 'retry', reason: 'connection', inMs: 9_000_000 }, hostAnswered: false } as const;
      let settled = 0;
      const next = async (settlement?: Settlement): Promise<unknown> => {
        const { tasks } = await frontier.release({ ...ROOM, limit: 1 });
        if (settlement !== undefined) await frontier.settle('r', ++settled, settlement);
        return tasks.map(({ verdict }) => verdict);
      };
      expect(await next(fails)).toEqual(['go']);
      step(599_000);
      expect(await next({ outcome: { kind: 'done' }, hostAnswered: true })).toEqual(['go']);
      step(1_000);
      expect(await next(fails)).toEqual(['go']);
      step(599_999);
      expect(await next(fails)).toEqual(['go']);
      step(1);
      expect(await next()).toEqual(['host_down']);
    });

    test('a host that asks for a longer wait than the give-up time is down once that time is over', async () => {
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

    test('a host in trouble is asked again after hours in which we did not ask it', async () => {
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
  });
}
