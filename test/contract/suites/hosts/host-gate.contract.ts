import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { MAX_SLOT_WAIT_MS } from '../../../../shared/ports/host-gate.ts';
import { HOUR_MS } from '../../../../shared/task/durations.ts';
import { FAST_RUN } from '../../../support/builders.ts';
import type { OpenStore } from '../../../support/stores/stores.ts';
import { atMost, every, gateSetupOf, granted, ROOM, refused, UNLIMITED } from './gate-setup.ts';

/** The promises of every host gate, alone and together with the frontier whose release it holds back. */
export function describeHostGate(name: string, open: OpenStore, close: () => Promise<void> = async () => {}): void {
  describe(`host gate: ${name}`, () => {
    afterAll(close);

    const setup = gateSetupOf(open);

    describe('pace', () => {
      test('slots are one interval apart', async () => {
        const { ask } = await setup();
        const slots = [];
        for (let i = 0; i < 6; i++) slots.push(await ask(every(50)));
        expect(slots).toEqual([0, 50, 100, 150, 200, 250].map(granted));
      });

      test('after a request sent late, the next slot is nine tenths of an interval after its sending', async () => {
        const { ask, gate, step } = await setup();
        expect(await ask(every(1_000), 'a')).toEqual(granted(0));
        step(700);
        await gate.sentLate('a.test', every(1_000));
        expect(await ask(every(1_000), 'b')).toEqual(refused('pace', 900));
        step(700);
        expect(await ask(every(1_000), 'b')).toEqual(granted(200));
        await gate.sentLate('a.test', every(1_000));
        expect(await ask(every(1_000), 'c'), 'a later slot stands').toEqual(refused('pace', 1_200));
        await gate.sentLate('a.test', UNLIMITED);
        await gate.sentLate('b.test', UNLIMITED);
        expect(await ask(UNLIMITED, 'd', 'b.test')).toEqual(granted(0));
      });

      test('a wait of more than 250 ms reserves nothing', async () => {
        const { ask, step } = await setup();
        for (let i = 0; i < 6; i++) await ask(every(50));
        expect(await ask(every(50))).toEqual(refused('pace', 300));
        expect(await ask(every(50)), 'the first one took nothing').toEqual(refused('pace', 300));
        step(50);
        expect(await ask(every(50))).toEqual(granted(250));
      });

      test('an asker that can wait longer reserves a slot further ahead, and later askers come after it', async () => {
        const { ask, gate, step } = await setup();
        await ask(every(1_000));
        expect(await gate.ask('a.test', every(1_000), 'patient', 999)).toEqual(refused('pace', 1_000));
        expect(await gate.ask('a.test', every(1_000), 'patient', 1_000)).toEqual(granted(1_000));
        step(1_000);
        expect(await ask(every(1_000))).toEqual(refused('pace', 1_000));
      });

      test('even an asker that can wait longer reserves no slot behind a pause of more than 250 ms', async () => {
        const { ask, gate, step } = await setup();
        await gate.pause('a.test', 1_000, 'Retry-After');
        expect(await gate.ask('a.test', every(100), 'patient', 5_000)).toEqual(refused('pause', 1_000));
        step(750);
        expect(await gate.ask('a.test', every(100), 'patient', 5_000)).toEqual(granted(250));
        expect(await ask(every(100))).toEqual(refused('pace', 350));
      });

      test.each([
        [MAX_SLOT_WAIT_MS, granted(MAX_SLOT_WAIT_MS)],
        [MAX_SLOT_WAIT_MS + 1, refused('pace', MAX_SLOT_WAIT_MS + 1)],
      ])('a second slot %i ms ahead is granted up to 250 ms and refused beyond', async (intervalMs, answer) => {
        const { ask } = await setup();
        await ask(every(intervalMs));
        expect(await ask(every(intervalMs))).toEqual(answer);
      });

      test('an interval with a fraction is rounded up', async () => {
        const { ask } = await setup();
        await ask(every(133.4));
        expect(await ask(every(133.4))).toEqual(granted(134));
      });

      test('an idle host does not save up slots', async () => {
        const { ask, step } = await setup();
        await ask(every(200));
        step(60_000);
        expect([await ask(every(200)), await ask(every(200))]).toEqual([granted(0), granted(200)]);
      });

      test('no two granted starts are closer than the interval, whenever the gate is asked', async () => {
        await fc.assert(
          fc.asyncProperty(
            fc.integer({ min: 1, max: 200 }),
            fc.array(fc.integer({ min: 0, max: 120 }), { minLength: 5, maxLength: 30 }),
            async (intervalMs, steps) => {
              const store = await open();
              const starts: number[] = [];
              for (const [index, ms] of steps.entries()) {
                const grant = await store.gate.ask('a.test', every(intervalMs), `request ${index}`);
                if (grant.granted) starts.push(store.now() + grant.inMs);
                store.step(ms);
              }
              await store.close();
              const gaps = starts.slice(1).map((start, index) => start - (starts[index] ?? 0));
              expect(Math.min(...gaps, Number.POSITIVE_INFINITY)).toBeGreaterThanOrEqual(intervalMs);
            },
          ),
          { numRuns: 30 },
        );
      });

      test('hosts do not wait for each other', async () => {
        const { ask } = await setup();
        await ask(every(1_000), 'first', 'a.test');
        expect(await ask(every(1_000), 'second', 'b.test')).toEqual(granted(0));
      });

      test('a host is paced by the slowest of the runs that have tasks for it', async () => {
        const { ask, frontier, runs } = await setup();
        await runs.open('slow', { ...FAST_RUN, intervalMs: 1_500 }, 'p');
        const url = 'http://a.test/1';
        await frontier.offer('slow', [{ url, mark: url, host: 'a.test', step: '', depth: 0, queue: 'normal' }]);
        await frontier.release(ROOM);
        await ask(every(100));
        expect(await ask(every(100))).toEqual(refused('pace', 1_500));
      });

      test('a Crawl-delay applies to all askers of its host alone, at once and until it expires', async () => {
        const { ask, gate, step } = await setup();
        await gate.slow('a.test', 1_500, HOUR_MS);
        expect(await ask(UNLIMITED), 'even without a limit').toEqual(refused('pace', 1_500));
        expect(await ask(every(100), 'elsewhere', 'b.test')).toEqual(granted(0));
        step(1_300);
        expect(await ask(every(100))).toEqual(granted(200));
        step(1_700);
        expect([await ask(every(100)), await ask(every(100))]).toEqual([granted(0), refused('pace', 1_500)]);
        step(HOUR_MS);
        expect([await ask(every(100)), await ask(every(100))]).toEqual([granted(0), granted(100)]);
      });

      test('a run slower than the Crawl-delay keeps its own pace, and the longer of two delays applies', async () => {
        const { ask, gate, step } = await setup();
        await gate.slow('a.test', 800, HOUR_MS);
        await gate.slow('a.test', 200, 2 * HOUR_MS);
        step(10_000);
        expect([await ask(every(100)), await ask(every(100))]).toEqual([granted(0), refused('pace', 800)]);
        step(10_000);
        expect([await ask(every(1_200)), await ask(every(1_200))]).toEqual([granted(0), refused('pace', 1_200)]);
      });

      test('a longer Crawl-delay replaces a shorter one at once', async () => {
        const { ask, gate, step } = await setup();
        await gate.slow('a.test', 200, HOUR_MS);
        await gate.slow('a.test', 800, HOUR_MS);
        step(10_000);
        expect([await ask(every(100)), await ask(every(100))]).toEqual([granted(0), refused('pace', 800)]);
      });

      test('release follows the Crawl-delay, whatever the intervals of the runs', async () => {
        const { frontier, gate, runs, step } = await setup();
        await gate.slow('a.test', 30_000, HOUR_MS);
        for (const [run, intervalMs] of [
          ['fast', 10],
          ['slow', 1_000],
        ] as const) {
          await runs.open(run, { ...FAST_RUN, intervalMs }, 'p');
          await frontier.offer(
            run,
            Array.from({ length: 20 }, (_, n) => {
              const url = `http://a.test/${run}/${n}`;
              return { url, mark: url, host: 'a.test', step: '', depth: 0, queue: 'normal' as const };
            }),
          );
        }
        let released = 0;
        for (let ms = 0; ms < 300_000; ms += 500) {
          released += (await frontier.release(ROOM)).tasks.length;
          step(500);
        }
        expect(released).toBeGreaterThanOrEqual(9);
        expect(released).toBeLessThanOrEqual(11);
        const [line] = await runs.hosts('fast', 1);
        expect(line).toMatchObject({ host: 'a.test', intervalMs: 30_000 });
      });

      test('a host does not wait for the old time after the clock steps back', async () => {
        const { ask, step } = await setup();
        await ask(every(1_000));
        step(-24 * HOUR_MS);
        expect(await ask(every(1_000))).toEqual(refused('pace', 1_000));
      });
    });

    describe('open requests', () => {
      test('no more requests than the limit are open at once, and a place that is left can be taken again', async () => {
        const { ask, gate } = await setup();
        expect([await ask(atMost(2), 'a'), await ask(atMost(2), 'b')]).toEqual([granted(0), granted(0)]);
        expect(await ask(atMost(2), 'c')).toMatchObject({ granted: false, because: 'concurrency' });
        await gate.leave('a.test', atMost(2), 'a');
        expect(await ask(atMost(2), 'c')).toEqual(granted(0));
        expect(await ask(atMost(2), 'd')).toMatchObject({ granted: false, because: 'concurrency' });
      });

      test('a holder that asks again has one place, not two', async () => {
        const { ask } = await setup();
        await ask(atMost(2), 'a');
        await ask(atMost(2), 'a');
        expect(await ask(atMost(2), 'b')).toEqual(granted(0));
        expect(await ask(atMost(2), 'a'), 'in its own place').toEqual(granted(0));
      });

      test('an asker refused for concurrency takes no slot', async () => {
        const { ask, gate } = await setup();
        await ask(atMost(1, 200), 'a');
        for (const holder of ['b', 'c', 'd']) {
          expect(await ask(atMost(1, 200), holder)).toMatchObject({ because: 'concurrency' });
        }
        await gate.leave('a.test', atMost(1, 200), 'a');
        expect(await ask(atMost(1, 200), 'b')).toEqual(granted(200));
      });

      test('the place of a lost holder is free again 120 s after its slot, when its lease ends', async () => {
        const { ask, step } = await setup();
        await ask(atMost(1, 500), 'first');
        step(119_999);
        expect(await ask(atMost(1, 500), 'next')).toMatchObject({ because: 'concurrency' });
        step(1);
        expect(await ask(atMost(1, 500), 'next')).toEqual(granted(0));
      });

      test('leaving a place that is not held frees no other', async () => {
        const { ask, gate } = await setup();
        await ask(atMost(1), 'a');
        await gate.leave('a.test', atMost(1), 'stranger');
        expect(await ask(atMost(1), 'b')).toMatchObject({ because: 'concurrency' });
      });

      test('the wait after a refusal follows the average duration of the host’s requests', async () => {
        const { ask, gate } = await setup();
        const wait = async (): Promise<number> => {
          await ask(atMost(2), 'a');
          await ask(atMost(2), 'b');
          const { inMs } = await ask(atMost(2), 'c');
          return inMs;
        };
        expect(await wait(), 'as long as nobody knows').toBe(50);
        await gate.leave('a.test', atMost(2), 'a', { durationMs: 4_000.04 });
        expect(await wait(), 'the first answer counts in full').toBe(2_000);
        await gate.leave('a.test', atMost(2), 'a', { durationMs: 0 });
        expect(await wait(), 'later ones for a quarter').toBe(1_500);
        await gate.leave('a.test', atMost(2), 'a');
        expect(await wait(), 'no request, no duration').toBe(1_500);
      });
    });

    describe('without a limit', () => {
      test('nobody waits without a rate and a limit of open requests', async () => {
        const { ask } = await setup();
        const grants = await Promise.all(Array.from({ length: 200 }, () => ask(UNLIMITED)));
        expect(new Set(grants.map(({ granted, inMs }) => `${granted} ${inMs}`))).toEqual(new Set(['true 0']));
      });

      test('an asker without limits reserves no slot and neither takes nor leaves a place', async () => {
        const { ask, gate } = await setup();
        await Promise.all(Array.from({ length: 20 }, () => ask(UNLIMITED)));
        expect(await ask(atMost(1, 1_000), 'a'), 'a stricter one starts from here').toEqual(granted(0));
        expect(await ask(UNLIMITED, 'b')).toEqual(granted(0));
        await gate.leave('a.test', UNLIMITED, 'a');
        expect(await ask(atMost(1), 'c'), 'its place is still held').toMatchObject({ because: 'concurrency' });
      });

      test('a pause also holds for askers without limits', async () => {
        const { ask, gate } = await setup();
        await gate.pause('a.test', 60_000, 'Retry-After');
        expect(await ask(UNLIMITED)).toEqual(refused('pause', 60_000));
      });
    });
  });
}
