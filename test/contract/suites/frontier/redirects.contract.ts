import { afterAll, describe, expect, test } from 'vitest';
import type { ReleasedTask } from '../../../../shared/ports/frontier/frontier.ts';
import type { Task } from '../../../../shared/task/task/task.ts';
import type { OpenStore } from '../../../support/stores/stores.ts';
import { page, pages, ROOM, setupOf } from './frontier-setup.ts';

/** The promises of every frontier about tasks that are redirected. */
export function describeRedirects(name: string, open: OpenStore, close: () => Promise<void> = async () => {}): void {
  describe(`redirects: ${name}`, () => {
    afterAll(close);

    const setup = setupOf(open);

    test('a task redirected to another host waits there and resumes with its redirects', async () => {
      const { frontier, runs, gate, step } = await setup();
      await frontier.offer('r', [page(1), page(2)]);
      const released = (await frontier.release(ROOM)).tasks;
      const redirects = ['http://b.test/1', 'http://b.test/"2"\t'];
      const moved = (index: number): Task => ({ ...taskAt(released, index), host: 'b.test', redirects });
      await frontier.settle('r', 1, {
        outcome: { kind: 'defer', host: { pauseMs: 5_000, reason: 'HTTP 429' } },
        moved: moved(0),
      });
      await frontier.settle('r', 2, { outcome: { kind: 'retry', reason: 'timeout', inMs: 1_000 }, moved: moved(1) });
      expect(await gate.stillOpen('a.test'), 'its own host asked for nothing').toBe(true);
      expect((await frontier.release(ROOM)).tasks).toEqual([]);
      step(5_000);
      const { tasks } = await frontier.release(ROOM);
      expect(tasks.map(({ task }) => [task.url, task.host, task.redirects]).toSorted()).toEqual([
        ['http://a.test/1', 'b.test', redirects],
        ['http://a.test/2', 'b.test', redirects],
      ]);
      await frontier.settle('r', 3, {
        outcome: { kind: 'defer' },
        moved: { ...taskAt(tasks, 0), host: 'c.test', redirects: ['http://c.test/'] },
      });
      await frontier.settle('r', 4, { outcome: { kind: 'done' }, moved: moved(1) });
      expect((await frontier.release(ROOM)).tasks).toMatchObject([
        { task: { host: 'c.test', redirects: ['http://c.test/'] } },
      ]);
      await frontier.settle('r', 5, { outcome: { kind: 'failed', reason: 'redirects' } });
      expect(await runs.progress('r')).toMatchObject({ done: 1, failed: 1, waiting: 0, inFlight: 0 });
    });

    test.each([
      ['within its host leaves that host in trouble', 'a.test', 'host_down'],
      ['to another host ends the trouble of the first', 'b.test', 'go'],
    ] as const)('a redirect %s, if the page then fails', async (_, host, verdict) => {
      const { frontier, step } = await setup({}, { giveUpMs: 200_000 });
      await frontier.offer('r', pages(1, 4));
      const failed = { outcome: { kind: 'retry', reason: 'http_5xx', inMs: 500_000 }, hostAnswered: false } as const;
      const released = (await frontier.release({ ...ROOM, limit: 3 })).tasks;
      await frontier.settle('r', 1, failed);
      step(100_000);
      await frontier.settle('r', 3, failed);
      step(99_999);
      await frontier.settle('r', 2, {
        ...failed,
        moved: { ...taskAt(released, 1), host, redirects: ['http://a.test/'] },
      });
      step(1);
      const { tasks } = await frontier.release(ROOM);
      expect(tasks.find(({ task }) => task.url === 'http://a.test/4')).toMatchObject({ verdict });
    });

    test('a redirect to another host counts as a healthy answer of the first: it is asked faster again', async () => {
      const { frontier, runs } = await setup();
      await frontier.offer('r', pages(1, 4));
      const released = (await frontier.release({ ...ROOM, limit: 3 })).tasks;
      const intervalMs = async () => (await runs.hosts('r', 9)).find(({ host }) => host === 'a.test')?.intervalMs;
      const slowed = { outcome: { kind: 'retry', reason: 'http_5xx', inMs: 1_000 }, hostAnswered: false } as const;
      await frontier.settle('r', 1, { ...slowed, slowDown: 'HTTP 503' });
      const before = (await intervalMs()) ?? 0;
      const moved = (n: number, host: string) => ({ ...taskAt(released, n), host, redirects: [`http://${host}/`] });
      await frontier.settle('r', 2, { ...slowed, moved: moved(1, 'a.test') });
      expect(await intervalMs(), 'within its host').toBe(before);
      await frontier.settle('r', 3, { ...slowed, moved: moved(2, 'b.test') });
      expect(await intervalMs()).toBe((before * 3) / 4);
    });

    test.each(['ever', 'run'] as const)(
      'with dedup %s, a claim belongs to one task, and is kept when it is done and freed when it fails',
      async (dedup) => {
        const { frontier } = await setup({ dedup });
        await frontier.offer('r', pages(1, 4));
        await frontier.release(ROOM);
        const target = 'http://a.test/target';
        expect(await frontier.isTaken('r', 1, target), 'nobody has it').toBe(false);
        expect(await frontier.isTaken('r', 1, 'http://a.test/2'), 'a page of its own').toBe(true);
        expect(await frontier.isTaken('r', 1, 'http://a.test/1'), 'its own').toBe(false);
        expect(await frontier.claim('r', 1, target)).toBe('claimed');
        expect(await frontier.claim('r', 1, target), 'told again').toBe('claimed');
        expect(await frontier.isTaken('r', 1, target), 'claimed before').toBe(false);
        expect(await frontier.isTaken('r', 2, target), 'claimed by another').toBe(true);
        expect(await frontier.isTaken('r', 9, target), 'of no release').toBe(false);
        expect(await frontier.claim('r', 2, target)).toBe('taken');
        expect(await frontier.claim('r', 2, 'http://a.test/2'), 'its own').toBe('claimed');
        expect(await frontier.claim('r', 9, target)).toBe('stale');
        expect(await frontier.offer('r', [page('target')])).toEqual({ accepted: 0, known: 1 });
        await frontier.settle('r', 1, { outcome: { kind: 'retry', reason: 'timeout', inMs: 0 } });
        const [again] = (await frontier.release(ROOM)).tasks;
        expect(await frontier.claim('r', again?.release ?? 0, target), 'by its next release').toBe('claimed');
        expect(await frontier.claim('r', again?.release ?? 0, 'http://a.test/other'), 'it leads elsewhere now').toBe(
          'claimed',
        );
        expect(await frontier.claim('r', 2, target)).toBe('claimed');
        await frontier.settle('r', again?.release ?? 0, { outcome: { kind: 'failed', reason: 'schema' } });
        await frontier.settle('r', 2, { outcome: { kind: 'done' } });
        expect(await frontier.claim('r', 3, 'http://a.test/other'), 'what failed has let go').toBe('claimed');
        expect(await frontier.claim('r', 4, target), 'what is done keeps it').toBe('taken');
      },
    );

    test("a task whose message can't be read lets go of its claim, and its own mark stays known", async () => {
      const { frontier } = await setup({ dedup: 'ever' });
      await frontier.offer('r', pages(1, 2));
      await frontier.release(ROOM);
      const target = 'http://a.test/target';
      expect(await frontier.claim('r', 1, target)).toBe('claimed');
      await frontier.settle('r', 1, { outcome: { kind: 'failed', reason: 'malformed' } });
      expect(await frontier.claim('r', 2, target)).toBe('claimed');
      expect(await frontier.offer('r', pages(1, 1))).toEqual({ accepted: 0, known: 1 });
    });
  });
}

function taskAt(released: readonly ReleasedTask[], index: number): Task {
  const { task } = released[index] ?? {};
  if (task === undefined) throw new Error(`no ${index + 1}. task was released`);
  return task;
}
