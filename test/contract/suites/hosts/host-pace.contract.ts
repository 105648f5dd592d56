import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import type { HostLimit } from '../../../../shared/ports/host-gate.ts';
import { FAST_RUN } from '../../../support/builders.ts';
import { offerOf } from '../../../support/stores/embedded.ts';
import type { OpenStore, Store } from '../../../support/stores/stores.ts';
import { ROOM } from '../frontier/frontier-setup.ts';

const TWO_A_SECOND: HostLimit = { intervalMs: 500, concurrency: 2 };

/** How a host's behaviour changes its pace, both in the gate and in release. */
export function describeHostPace(name: string, open: OpenStore, close: () => Promise<void> = async () => {}): void {
  describe(`host pace: ${name}`, () => {
    afterAll(close);

    async function setup(intervalMs = 1_000) {
      const store: Store = await open();
      onTestFinished(() => store.close());
      const { frontier, gate, runs } = store;
      await runs.open('r', { ...FAST_RUN, intervalMs }, 'p');
      await frontier.offer(
        'r',
        Array.from({ length: 99 }, (_, n) => offerOf(`http://a.test/${n}`)),
      );
      let requests = 0;
      const next = async (): Promise<number> => {
        const [task] = (await frontier.release({ ...ROOM, limit: 1 })).tasks;
        if (task === undefined) throw new Error('nothing is due');
        return task.release;
      };
      return {
        ...store,
        /** Makes a request that takes this long, if the gate grants it. Returns the gate's answer. */
        async request(limit: HostLimit, tookMs: number, isFailure = false) {
          const holder = `request ${++requests}`;
          const grant = await gate.ask('a.test', limit, holder);
          if (grant.granted) await gate.leave('a.test', limit, holder, { durationMs: tookMs, isFailure });
          return grant;
        },
        /** Settles the next task that is due with a 429 or 503 without a Retry-After. */
        async refuse(status: 429 | 503) {
          const reason = `HTTP ${status}`;
          const outcome =
            status === 429
              ? ({ kind: 'defer', host: { reason } } as const)
              : ({ kind: 'retry', reason: 'http_5xx', inMs: 600_000 } as const);
          await frontier.settle('r', await next(), { outcome, hostAnswered: false, slowDown: reason });
        },
        /** Settles the next task that is due with a good answer. */
        async answer() {
          await frontier.settle('r', await next(), { outcome: { kind: 'done' }, hostAnswered: true });
        },
        /** The host as it is shown to people. */
        async host() {
          return (await runs.hosts('r', 1))[0];
        },
      };
    }

    describe('response time', () => {
      test('a host is asked no faster than it can answer its open requests', async () => {
        const { request, host, step } = await setup();
        await request(TWO_A_SECOND, 4_000);
        expect(await request(TWO_A_SECOND, 4_000), 'a slot that was given before').toMatchObject({ inMs: 500 });
        step(500);
        await request(TWO_A_SECOND, 4_000);
        expect(await request(TWO_A_SECOND, 4_000), 'half of 4 s later').toEqual({
          granted: false,
          inMs: 2_000,
          because: 'pace',
        });
        expect(await host()).toMatchObject({ intervalMs: 2_000, because: 'answers', responseMs: 4_000 });
      });

      test('release also slows down with the response time of a host', async () => {
        const { request, frontier, step } = await setup();
        await request(TWO_A_SECOND, 8_000);
        const released: number[] = [];
        for (let second = 0; second < 9; second++) {
          released.push((await frontier.release(ROOM)).tasks.length);
          step(1_000);
        }
        expect(released).toEqual([0, 1, 0, 0, 0, 1, 0, 0, 0]);
      });

      test('a slow host without a rate is not slowed down', async () => {
        const { request, host } = await setup(0);
        const limit = { intervalMs: 0, concurrency: 2 };
        await request(limit, 4_000);
        expect([await request(limit, 4_000), await request(limit, 4_000)]).toMatchObject([{ inMs: 0 }, { inMs: 0 }]);
        expect(await host()).toMatchObject({ intervalMs: 0, because: 'rate' });
      });

      test('a host that is quick again returns to its rate step by step; a response counts as a minute at most', async () => {
        const { request, host, step } = await setup();
        await request(TWO_A_SECOND, 600_000);
        const intervals: (number | undefined)[] = [];
        for (let n = 0; n < 16; n++) {
          step(60_000);
          intervals.push((await host())?.intervalMs);
          await request(TWO_A_SECOND, 20);
        }
        expect(intervals).toEqual([
          30_000, 22_503, 16_880, 12_663, 9_500, 7_127, 5_348, 4_014, 3_013, 2_262, 1_699, 1_277, 1_000, 1_000, 1_000,
          1_000,
        ]);
      });

      test('a fast failure does not lower the average response time, and a slow one raises it', async () => {
        const { request, host, step } = await setup();
        const averageAfter = async (tookMs: number, isFailure: boolean): Promise<number | undefined> => {
          step(60_000);
          await request(TWO_A_SECOND, tookMs, isFailure);
          return (await host())?.responseMs;
        };
        expect(await averageAfter(1_000, false)).toBe(1_000);
        expect(await averageAfter(1, true)).toBe(1_000);
        expect(await averageAfter(5_000, true)).toBe(2_000);
        expect(await averageAfter(1_000, false)).toBe(1_750);
      });

      test('a host that answers in 50 ms keeps a pace of ten a second', async () => {
        const { request } = await setup(100);
        const limit = { intervalMs: 100, concurrency: 2 };
        const slots: number[] = [];
        for (let n = 0; n < 3; n++) slots.push((await request(limit, 50)).inMs);
        expect(slots).toEqual([0, 100, 200]);
      });
    });

    describe('slow down', () => {
      test('each 429 without a time doubles the pause of its host, up to a quarter of an hour', async () => {
        const { refuse, host, step } = await setup();
        const pauses: (number | undefined)[] = [];
        for (let n = 0; n < 8; n++) {
          await refuse(429);
          const { pausedMs = 0 } = (await host()) ?? {};
          pauses.push(pausedMs / 1_000);
          step(pausedMs + 60_000);
        }
        expect(pauses).toEqual([15, 30, 60, 120, 240, 480, 900, 900]);
      });

      test('after a good answer, the next 429 pauses the host briefly again', async () => {
        const { refuse, answer, host, step } = await setup();
        for (const ms of [15_000, 30_000]) {
          await refuse(429);
          step(ms + 60_000);
        }
        await answer();
        step(60_000);
        await refuse(429);
        expect(await host()).toMatchObject({ pausedMs: 15_000, reason: 'HTTP 429' });
      });

      test('each 503 doubles the interval, up to a minute, and each good answer shortens it by a quarter', async () => {
        const { refuse, answer, host, step } = await setup();
        const intervals: (number | undefined)[] = [];
        for (let n = 0; n < 7; n++) {
          await refuse(503);
          intervals.push((await host())?.intervalMs);
          step(120_000);
        }
        expect(intervals).toEqual([2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
        expect(await host()).toMatchObject({ because: 'slowed', slowReason: 'HTTP 503', pausedMs: 0 });
        const faster: (number | undefined)[] = [];
        for (let n = 0; n < 15; n++) {
          await answer();
          faster.push((await host())?.intervalMs);
          step(120_000);
        }
        expect(faster).toEqual([
          45_000, 33_750, 25_312, 18_984, 14_238, 10_678, 8_008, 6_006, 4_504, 3_378, 2_533, 1_899, 1_424, 1_068, 1_000,
        ]);
        expect(await host()).toMatchObject({ because: 'rate' });
      });

      test('several 429s to requests that were under way together count as one', async () => {
        const { frontier, host, step } = await setup(100);
        let released = 0;
        for (; released < 8; step(250))
          released += (await frontier.release({ ...ROOM, limit: 8 - released })).tasks.length;
        expect(released).toBe(8);
        const slowDown = 'HTTP 429';
        for (let release = 1; release <= 8; release++) {
          const outcome = { kind: 'defer', host: { reason: slowDown } } as const;
          await frontier.settle('r', release, { outcome, hostAnswered: false, slowDown });
          step(10);
        }
        expect(await host()).toMatchObject({ pausedMs: 15_000 - 10, intervalMs: 1_000 });
      });

      test('a host without a rate is slowed to one request a second, and has no rate again after a few good answers', async () => {
        const { refuse, answer, host, step } = await setup(0);
        await refuse(503);
        const intervals: (number | undefined)[] = [];
        for (let n = 0; n < 4; n++) {
          step(2_000);
          intervals.push((await host())?.intervalMs);
          await answer();
        }
        expect(intervals).toEqual([1_000, 750, 562, 0]);
      });

      test('both the gate and release follow the slowed interval', async () => {
        const { refuse, request, frontier, step } = await setup(1_000);
        await refuse(503);
        step(60_000);
        const limit = { intervalMs: 1_000, concurrency: 0 };
        expect([await request(limit, 0), await request(limit, 0)]).toMatchObject([{ inMs: 0 }, { inMs: 2_000 }]);
        step(60_000);
        const released: number[] = [];
        for (let second = 0; second < 6; second++) {
          released.push((await frontier.release(ROOM)).tasks.length);
          step(1_000);
        }
        expect(released).toEqual([1, 0, 1, 0, 1, 0]);
      });

      test('resuming the host by hand restores its rate', async () => {
        const { refuse, gate, host } = await setup();
        await refuse(429);
        await gate.resume('a.test');
        expect(await host()).toMatchObject({ pausedMs: 0, intervalMs: 1_000, because: 'rate' });
      });
    });
  });
}
