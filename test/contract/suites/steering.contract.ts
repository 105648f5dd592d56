import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Offer } from '../../../shared/ports/frontier/frontier.ts';
import { LONGEST_PAUSE_MS } from '../../../shared/ports/host-gate.ts';
import { HOUR_MS, MINUTE_MS } from '../../../shared/task/durations.ts';
import { FAST_RUN } from '../../support/builders.ts';
import type { OpenStore, Store } from '../../support/stores/stores.ts';

const ROOM = { limit: 200, window: 1_000, unpaced: false };

function page(path: string, host = 'a.test'): Offer {
  const url = `http://${host}/${path}`;
  return { url, mark: url, host, step: '', depth: 0, queue: 'normal' };
}

/** The contract of steering runs and hosts by hand. */
export function describeSteering(name: string, open: OpenStore, close: () => Promise<void> = async () => {}): void {
  describe(`steering: ${name}`, () => {
    afterAll(close);

    async function setup(): Promise<Store & { released(): Promise<string[]> }> {
      const store = await open({ giveUpMs: HOUR_MS });
      onTestFinished(() => store.close());
      await store.runs.open('r', FAST_RUN, 'p');
      return {
        ...store,
        released: async () => (await store.frontier.release(ROOM)).tasks.map(({ task }) => task.url),
      };
    }

    test('steering a run returns its state before and after; an ended run keeps its state; an unknown one gives undefined', async () => {
      const { runs } = await setup();
      expect(await runs.pause('r', 'they called')).toEqual({ was: 'running', is: 'paused' });
      expect(await runs.progress('r')).toMatchObject({ state: 'paused', pauseReason: 'they called' });
      expect(await runs.pause('r')).toEqual({ was: 'paused', is: 'paused' });
      expect(await runs.resume('r')).toEqual({ was: 'paused', is: 'running' });
      expect((await runs.progress('r'))?.pauseReason).toBeUndefined();
      expect(await runs.seal('r')).toEqual({ was: 'running', is: 'finished' });
      for (const verb of ['pause', 'resume', 'cancel', 'seal'] as const) {
        expect(await runs[verb]('r'), verb).toEqual({ was: 'finished', is: 'finished' });
        expect(await runs[verb]('nobody'), verb).toBeUndefined();
      }
      await runs.open('s', FAST_RUN, 'p');
      expect(await runs.cancel('s')).toEqual({ was: 'running', is: 'cancelled' });
      expect(await runs.resume('s')).toEqual({ was: 'cancelled', is: 'cancelled' });
    });

    test('lost producers are named, the one silent for longest first', async () => {
      const { runs, step } = await setup();
      step(30_000);
      await runs.open('r', FAST_RUN, 'q');
      await runs.open('r', FAST_RUN, 'alive');
      step(61_000);
      await runs.beat('r', 'alive');
      expect((await runs.progress('r'))?.producers).toEqual({
        open: 1,
        lost: 2,
        silent: [
          { id: 'p', silentMs: 91_000 },
          { id: 'q', silentMs: 61_000 },
        ],
      });
    });

    test('a host paused by hand stays paused until it is resumed, whatever other pauses end meanwhile', async () => {
      const { gate, frontier, step, released } = await setup();
      await frontier.offer('r', [page('1'), page('2')]);
      await gate.pause('a.test', 60_000, 'Retry-After');
      expect(await gate.pauseByHand('a.test', 'they called')).toEqual({
        ms: 60_000,
        reason: 'Retry-After',
        byHand: false,
      });
      await gate.pause('a.test', HOUR_MS, 'HTTP 429');
      for (let hour = 0; hour < 30; hour++) {
        step(HOUR_MS);
        expect(await released()).toEqual([]);
        expect(await gate.ask('a.test', { intervalMs: 0, concurrency: 0 }, 'x')).toMatchObject({ granted: false });
      }
      const was = { ms: LONGEST_PAUSE_MS - 30 * HOUR_MS, reason: 'they called', byHand: true };
      expect(await gate.resume('a.test')).toEqual(was);
      expect((await released()).length, 'at once, in every run').toBe(2);
      expect(await gate.resume('a.test')).toBeUndefined();
    });

    test('a request that leaves a host does not end its pause by hand', async () => {
      const { gate } = await setup();
      const limit = { intervalMs: 100, concurrency: 2 };
      await gate.ask('a.test', limit, 'under way');
      await gate.pauseByHand('a.test', 'by hand');
      await gate.leave('a.test', limit, 'under way', { durationMs: 50 });
      expect(await gate.pauseByHand('a.test', 'by hand')).toMatchObject({ byHand: true });
    });

    test('a delivery for a host paused by hand is put back, and the host is not given up during the pause', async () => {
      const { gate, frontier, runs, step, released } = await setup();
      await frontier.offer('r', [page('1'), page('2')]);
      await frontier.release({ ...ROOM, limit: 1 });
      await frontier.settle('r', 1, { outcome: { kind: 'retry', reason: 'timeout', inMs: 0 }, hostAnswered: false });
      const again = await frontier.release({ ...ROOM, limit: 1 });
      await gate.pauseByHand('a.test', 'by hand');
      expect(await frontier.admit('r', again.tasks[0]?.release ?? 0, 'w')).toEqual({ verdict: 'put_back' });
      step(2 * HOUR_MS);
      expect(await released()).toEqual([]);
      expect((await frontier.release(ROOM)).nextLookMs, 'there is nothing to look for soon').toBeGreaterThan(MINUTE_MS);
      await gate.resume('a.test');
      expect((await frontier.release(ROOM)).tasks.map(({ verdict }) => verdict)).toEqual(['go', 'go']);
      expect(await runs.progress('r')).toMatchObject({ failed: 0 });
    });

    test('hosts that are due are counted, and paused hosts are listed', async () => {
      const { gate, hosts, frontier, runs, step, released } = await setup();
      await frontier.offer('r', [page('1'), page('1', 'b.test'), page('1', 'c.test')]);
      expect(await hosts.due()).toBe(3);
      await gate.pauseByHand('b.test', 'they called');
      await gate.pause('c.test', 60_000, 'HTTP 429');
      await gate.pause('d.test', 1_000, 'HTTP 429');
      expect(await released()).toEqual(['http://a.test/1']);
      expect(await hosts.due()).toBe(0);
      step(2_000);
      expect(await hosts.paused(9)).toEqual([
        {
          host: 'b.test',
          pausedMs: LONGEST_PAUSE_MS - 2_000,
          reason: 'they called',
          byHand: true,
          isUnreachable: false,
        },
        { host: 'c.test', pausedMs: 58_000, reason: 'HTTP 429', byHand: false, isUnreachable: false },
      ]);
      expect((await hosts.paused(1)).length).toBe(1);
      expect(await hosts.pausedCount()).toBe(2);
      expect(await runs.hosts('r', 9)).toMatchObject([
        { host: 'b.test', byHand: true },
        { host: 'c.test', byHand: false },
      ]);
      step(58_000);
      expect([await hosts.due(), (await hosts.paused(9)).length, await hosts.pausedCount()]).toEqual([1, 1, 1]);
      await runs.pause('r');
      expect(await hosts.due(), 'of a paused run, none').toBe(0);
    });

    test('due hosts are counted over hundreds of runs', async () => {
      const { hosts, frontier, runs } = await setup();
      for (let i = 0; i < 250; i++) {
        await runs.open(`run-${i}`, FAST_RUN, 'p');
        await frontier.offer(`run-${i}`, [page('1'), page('1', `h${i}.test`)]);
      }
      expect(await hosts.due()).toBe(500);
    });

    test('many paused hosts are listed once each, up to the limit, those paused longest first', async () => {
      const { gate, hosts } = await setup();
      for (let i = 0; i < 250; i++) await gate.pause(`h${i}.test`, (i + 1) * 1_000, 'HTTP 429');
      expect(await hosts.pausedCount()).toBe(250);
      for (const limit of [0, 1, 100, 101, 250, 1_000]) {
        const names = (await hosts.paused(limit)).map(({ host }) => host);
        const longest = Array.from({ length: Math.min(limit, 250) }, (_, n) => `h${249 - n}.test`);
        expect(names, `at most ${limit}`).toEqual(longest);
      }
    });
  });
}
