import { afterAll, describe, expect, test } from 'vitest';
import type { Settlement } from '../../../../shared/ports/frontier/frontier.ts';
import { DAY_MS, HOUR_MS } from '../../../../shared/task/durations.ts';
import { FAST_RUN } from '../../../support/builders.ts';
import type { OpenStore } from '../../../support/stores/stores.ts';
import { page } from '../frontier/frontier-setup.ts';
import { every, gateSetupOf, granted, ROOM, refused, UNLIMITED } from './gate-setup.ts';

/** The promises of every gate about pauses and about limits that a person sets. */
export function describeHostPauses(name: string, open: OpenStore, close: () => Promise<void> = async () => {}): void {
  describe(`host pauses: ${name}`, () => {
    afterAll(close);
    const setup = gateSetupOf(open);

    describe('pause', () => {
      test('a pause stops its own host, and no other, until it is over', async () => {
        const { ask, gate, step } = await setup();
        await gate.pause('a.test', 60_000, 'Retry-After');
        expect(await ask(every(100))).toEqual(refused('pause', 60_000));
        expect(await ask(every(100), 'other', 'b.test')).toEqual(granted(0));
        expect([await gate.stillOpen('a.test'), await gate.stillOpen('b.test')]).toEqual([false, true]);
        step(60_000);
        expect(await gate.stillOpen('a.test')).toBe(true);
        expect(await ask(every(100))).toEqual(granted(0));
      });

      test('a short pause is waited out, and the following slots keep their interval', async () => {
        const { ask, gate } = await setup();
        await gate.pause('a.test', 150, 'Retry-After');
        expect([await ask(every(80)), await ask(every(80))]).toEqual([granted(150), granted(230)]);
        expect(await ask(every(80))).toEqual(refused('pace', 310));
      });

      test('a longer pause replaces a shorter one, and a shorter one changes nothing', async () => {
        const { ask, gate } = await setup();
        await gate.pause('a.test', 60_000, 'long');
        for (const ms of [10_000, 0.4, 0]) await gate.pause('a.test', ms, 'short');
        expect(await ask(UNLIMITED)).toEqual(refused('pause', 60_000));
        await gate.pause('a.test', 90_000, 'longer');
        expect(await ask(UNLIMITED)).toEqual(refused('pause', 90_000));
      });

      test('a pause lasts an hour at most', async () => {
        const { ask, gate, step } = await setup();
        await gate.pause('a.test', 24 * HOUR_MS, 'Retry-After');
        expect(await ask(UNLIMITED)).toEqual(refused('pause', HOUR_MS));
        step(HOUR_MS);
        expect(await ask(UNLIMITED)).toEqual(granted(0));
      });

      test.each<[string, Settlement]>([
        ['an answer', { outcome: { kind: 'defer', host: { pauseMs: DAY_MS, reason: 'Retry-After' } } }],
        [
          'an unavailable robots.txt',
          {
            outcome: { kind: 'defer' },
            hostAnswered: false,
            hostTrouble: { kind: 'answered', reason: 'robots.txt', pauseMs: DAY_MS },
          },
        ],
      ])('a pause that %s asks for lasts an hour at most', async (_, settlement) => {
        const { ask, frontier, runs, step } = await setup();
        await runs.open('r', FAST_RUN, 'p');
        await frontier.offer('r', [page(1)]);
        await frontier.release(ROOM);
        await frontier.settle('r', 1, settlement);
        expect(await ask(UNLIMITED)).toEqual(refused('pause', HOUR_MS));
        step(HOUR_MS);
        expect(await ask(UNLIMITED)).toEqual(granted(0));
      });

      test('resuming ends a pause, and does nothing without one', async () => {
        const { ask, gate } = await setup();
        await gate.resume('a.test');
        await gate.pause('a.test', 60_000, 'Retry-After');
        await gate.resume('a.test');
        expect([await gate.stillOpen('a.test'), await ask(UNLIMITED)]).toEqual([true, granted(0)]);
      });

      test('a pause also stops release, and a pause set by a settle also closes the gate', async () => {
        const { ask, frontier, gate, runs, step } = await setup();
        await runs.open('r', FAST_RUN, 'p');
        const urls = [1, 2, 3].map((n) => `http://a.test/${n}`);
        await frontier.offer(
          'r',
          urls.map((url) => ({ url, mark: url, host: 'a.test', step: '', depth: 0, queue: 'normal' })),
        );
        await gate.pause('a.test', 60_000, 'Retry-After');
        expect(await frontier.release(ROOM)).toMatchObject({ tasks: [], nextLookMs: 60_000 });
        step(60_000);
        const { tasks } = await frontier.release({ ...ROOM, limit: 1 });
        expect(tasks.length).toBe(1);
        const pause = { pauseMs: 30_000, reason: 'HTTP 429' };
        await frontier.settle('r', 1, { outcome: { kind: 'defer', host: pause }, hostAnswered: false });
        expect(await ask(UNLIMITED)).toEqual(refused('pause', 30_000));
        expect((await frontier.release(ROOM)).tasks).toEqual([]);
        await gate.resume('a.test');
        step(30_000);
        expect((await frontier.release(ROOM)).tasks.length).toBe(3);
      });

      test.each(['done', 'failed'] as const)(
        'a host that asks for a pause gets it, although its page is %s',
        async (kind) => {
          const { ask, frontier, runs } = await setup();
          await runs.open('r', FAST_RUN, 'p');
          await frontier.offer('r', [
            { url: 'http://a.test/1', mark: 'm', host: 'a.test', step: '', depth: 0, queue: 'normal' },
          ]);
          expect((await frontier.release(ROOM)).tasks.length).toBe(1);
          const outcome = kind === 'done' ? { kind } : { kind, reason: 'step' as const };
          const hostTrouble = { kind: 'answered', reason: 'HTTP 429, Retry-After', pauseMs: 60_000 } as const;
          await frontier.settle('r', 1, { outcome, hostAnswered: false, hostTrouble });
          expect(await ask(UNLIMITED)).toEqual(refused('pause', 60_000));
        },
      );
    });

    describe('a limit by hand', () => {
      test('a limit by hand slows all runs down, and leaves slower ones as they are', async () => {
        const { ask, gate, step } = await setup();
        expect(await gate.limit('a.test', 2_000)).toBe(0);
        expect([await ask(UNLIMITED), await ask(UNLIMITED)]).toEqual([granted(0), refused('pace', 2_000)]);
        step(2_000);
        expect([await ask(every(5_000)), await ask(UNLIMITED)]).toEqual([granted(0), refused('pace', 5_000)]);
      });

      test('ending a limit returns its value and lets the host be asked after a second, not at once', async () => {
        const { ask, gate, step } = await setup();
        await gate.limit('a.test', 600_000);
        await ask(UNLIMITED);
        expect(await gate.limit('a.test', 0)).toBe(600_000);
        expect(await ask(every(500))).toEqual(refused('pace', 1_000));
        step(1_000);
        expect([await ask(every(500)), await gate.limit('a.test', 0)]).toEqual([granted(0), 0]);
      });

      test('after a limit ends, the host waits no longer than for the interval of its runs, and no less', async () => {
        const { frontier, gate, runs, step } = await setup();
        await runs.open('r', { ...FAST_RUN, intervalMs: 5_000 }, 'p');
        await frontier.offer('r', [page(1), page(2)]);
        const release = async (): Promise<number> => (await frontier.release(ROOM)).tasks.length;
        expect(await release()).toBe(1);
        step(5_000);
        await frontier.offer('r', [page(3)]);
        await gate.limit('a.test', 600_000);
        expect([await release(), await release()]).toEqual([1, 0]);
        await gate.limit('a.test', 0);
        step(4_000);
        expect(await release()).toBe(0);
        step(1_000);
        expect(await release()).toBe(1);
      });

      test('release follows a limit by hand', async () => {
        const { frontier, gate, runs } = await setup();
        await runs.open('r', { ...FAST_RUN, intervalMs: 0 }, 'p');
        await gate.limit('a.test', 60_000);
        const release = async (): Promise<number> => (await frontier.release(ROOM)).tasks.length;
        const urls = [1, 2, 3].map((n) => `http://a.test/${n}`);
        await frontier.offer(
          'r',
          urls.map((url) => ({ url, mark: url, host: 'a.test', step: '', depth: 0, queue: 'normal' })),
        );
        expect([await release(), await release()]).toEqual([1, 0]);
        await gate.limit('a.test', 0);
        expect(await release()).toBe(2);
      });
    });
  });
}
