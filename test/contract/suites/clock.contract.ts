import { afterAll, describe, expect, test } from 'vitest';
import { DAY_MS } from '../../../shared/task/durations.ts';
import type { OpenStore } from '../../support/stores/stores.ts';
import { OPTIONS, page, pages, ROOM, setupOf, urls } from './frontier/frontier-setup.ts';

const LIMIT = { intervalMs: 1_000, concurrency: 2 };

/** The promises of every frontier about time when its clock is set back or forward. */
export function describeClock(name: string, open: OpenStore, close: () => Promise<void> = async () => {}): void {
  describe(`clock: ${name}`, () => {
    afterAll(close);
    const setup = setupOf(open);

    test.each([
      ['set back a day', [-DAY_MS]],
      ['set forward a day, and back again', [DAY_MS, -DAY_MS]],
      ['set back an hour, again and again', [-3_600_000, -3_600_000, -3_600_000]],
    ])('a clock that is %s stalls no release, slot, retry or lease', async (_, steps) => {
      const { frontier, gate, runs, step } = await setup();
      await runs.open('paced', { ...OPTIONS, dedup: 'run', intervalMs: 1_000 }, 'p');
      await frontier.offer('r', pages(1, 4));
      await frontier.offer('paced', pages(1, 9, 'slow.test'));
      await frontier.release(ROOM);
      await frontier.admit('r', 1, 'w');
      await frontier.admit('r', 2, 'w');
      await frontier.settle('r', 1, { outcome: { kind: 'retry', reason: 'timeout', inMs: 10_000 } });
      const host = { pauseMs: 20_000, reason: 'Retry-After' };
      await frontier.settle('r', 2, { outcome: { kind: 'defer', host } });
      expect(await gate.ask('slow.test', LIMIT, 'x')).toMatchObject({ granted: true });
      for (const ms of steps) {
        step(ms);
        await frontier.offer('r', pages(10, 11, 'b.test'));
      }
      const released = urls(await frontier.release(ROOM));
      expect(released, 'what was offered meanwhile').toContain('b.test/10');
      // A tenth of the time that passes goes into letting the clock catch up.
      step(10_000 / 0.9 + 100);
      expect(await gate.ask('slow.test', LIMIT, 'y'), 'the next slot').toEqual({ granted: true, inMs: 0 });
      step(10_000 / 0.9);
      released.push(...urls(await frontier.release(ROOM)));
      for (const path of ['a.test/1', 'a.test/2', 'slow.test/2']) expect(released).toContain(path);
      step(60_000 / 0.9);
      expect(await frontier.reap(), 'what was left behind').toBeGreaterThan(0);
      expect((await runs.progress('r'))?.inFlight).toBe(0);
    });

    test('a clock that is set back does not make a retry wait again for time that has passed', async () => {
      const { frontier, step } = await setup();
      await frontier.offer('r', [page(1)]);
      await frontier.release(ROOM);
      await frontier.settle('r', 1, { outcome: { kind: 'retry', reason: 'timeout', inMs: 10_000 } });
      step(9_000);
      expect((await frontier.release(ROOM)).tasks).toEqual([]);
      step(-9_000);
      expect(await frontier.release(ROOM)).toMatchObject({ tasks: [], nextLookMs: 1_000 });
      step(1_112);
      expect(urls(await frontier.release(ROOM))).toEqual(['a.test/1']);
    });

    test('store time stays ahead of a clock that was set back until the clock has caught up, then follows it', async () => {
      const { frontier, runs, step, now } = await setup();
      const readAt = async (): Promise<number> => (await runs.progress('r'))?.readAt ?? 0;
      await frontier.reap();
      step(-60_000);
      await frontier.reap();
      expect((await readAt()) - now()).toBe(60_000);
      for (const left of [30_000, 0, 0]) {
        step(300_000);
        await frontier.reap();
        expect((await readAt()) - now()).toBe(left);
      }
    });
  });
}
