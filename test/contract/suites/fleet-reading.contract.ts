import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { FleetReader, type ReadLink } from '../../../shared/control/fleet-reading.ts';
import type { LiveWorker } from '../../../shared/ports/roster.ts';
import { MINUTE_MS } from '../../../shared/task/durations.ts';
import { FAST_RUN } from '../../support/builders.ts';
import type { OpenStore } from '../../support/stores/stores.ts';
import { page, pages } from './frontier/frontier-setup.ts';

const ROOM = { limit: 200, window: 1_000, unpaced: true };
const AT_60_A_MINUTE = { ...FAST_RUN, intervalMs: 1_000 };

const WORKER: LiveWorker = {
  ...{ id: 'w', host: 'm', version: '1', slots: 4, inHand: 3, bound: 'cpu', state: 'consuming', silentMs: 1_000 },
  progress: { settledMsAgo: 70_000, unsettledMs: 59_500, stuckAfterMs: 60_000, pagesPerSecond: 2, busyShare: 1 },
};

/** The reading of the whole fleet, from the counters of any store. */
export function describeFleetReading(name: string, open: OpenStore, close: () => Promise<void> = async () => {}): void {
  describe(`fleet reading: ${name}`, () => {
    afterAll(close);

    async function setup(workers: readonly LiveWorker[] = []) {
      const store = await open();
      onTestFinished(() => store.close());
      const { runs, hosts, now } = store;
      const roster = { workers: async () => workers };
      const clock = { now, monotonic: now, sleep: () => new Promise<void>(() => {}) };
      const link: ReadLink = {
        withStores: (action) => action({ runs, hosts, roster }),
        withLetters: (action) => action({ browse: async () => [] }),
        depths: async () => undefined,
      };
      const reader = new FleetReader({ link, hostConcurrency: 2, clock });
      return { ...store, read: () => new FleetReader({ link, hostConcurrency: 2, clock }).read(), reader };
    }

    test('a fleet that has never run anything reads as zero throughout', async () => {
      const { read, now } = await setup();
      expect(await read()).toEqual({
        runs: {
          byState: { running: 0, paused: 0, cancelled: 0, finished: 0 },
          tasks: { waiting: 0, inFlight: 0, done: 0, skipped: 0, failed: 0, cancelled: 0 },
          producers: { open: 0, lost: 0 },
          identityGap: 0,
          waitingHosts: [],
          unreadHosts: [],
        },
        hosts: { due: 0, oldestDueMs: 0, paused: 0, byHand: 0, unreachable: 0 },
        workers: { live: [], stuck: 0, lastSettleAt: now() },
        workersWanted: 0,
        oldestLetterMs: 0,
      });
    });

    test('tasks of running and paused runs are summed by state; ended runs are only counted', async () => {
      const { runs, frontier, read } = await setup();
      await runs.open('a', FAST_RUN, 'p');
      await runs.open('b', FAST_RUN, 'p');
      await runs.open('ended', FAST_RUN, 'p');
      await runs.seal('ended');
      await frontier.offer('a', pages(1, 4));
      await frontier.release(ROOM);
      await frontier.settle('a', 1, { outcome: { kind: 'done' } });
      await frontier.settle('a', 2, { outcome: { kind: 'skipped', reason: 'robots' } });
      await frontier.offer('b', [page('1', 'b.test'), page('2', 'b.test')]);
      await runs.pause('b');
      expect((await read()).runs).toMatchObject({
        byState: { running: 1, paused: 1, cancelled: 0, finished: 1 },
        tasks: { waiting: 2, inFlight: 2, done: 1, skipped: 1, failed: 0, cancelled: 0 },
        producers: { open: 2, lost: 0 },
        identityGap: 0,
        waitingHosts: [],
      });
    });

    test('a producer that falls silent counts as lost', async () => {
      const { runs, step, read } = await setup();
      await runs.open('a', FAST_RUN, 'p');
      step(61_000);
      expect((await read()).runs?.producers).toEqual({ open: 0, lost: 1 });
    });

    test('the age of the oldest due host is reported; paused hosts and hosts of paused runs do not count', async () => {
      const { runs, frontier, gate, step, hosts, read } = await setup();
      await runs.open('a', FAST_RUN, 'p');
      await frontier.offer('a', [page('1')]);
      step(7_000);
      await frontier.offer('a', [page('1', 'b.test')]);
      step(2_000);
      expect(await hosts.oldestDueMs()).toBe(9_000);
      expect((await read()).hosts).toEqual({ due: 2, oldestDueMs: 9_000, paused: 0, byHand: 0, unreachable: 0 });
      await gate.pause('b.test', 60_000, 'HTTP 429');
      await gate.pauseByHand('c.test', 'they called');
      await frontier.release(ROOM);
      expect((await read()).hosts).toEqual({ due: 0, oldestDueMs: 0, paused: 1, byHand: 1, unreachable: 0 });
      await frontier.offer('a', [page('2', 'd.test')]);
      step(1_000);
      await runs.pause('a');
      expect(await hosts.oldestDueMs(), 'of a paused run').toBe(0);
    });

    test('the number of workers wanted follows from the pace of the waiting hosts', async () => {
      const { runs, frontier, read, gate } = await setup([WORKER]);
      await runs.open('a', AT_60_A_MINUTE, 'p');
      await frontier.offer(
        'a',
        Array.from({ length: 9 }, (_, i) => page('1', `h${i}.test`)),
      );
      expect((await read()).workersWanted, '9 pages/s, by 2 a worker').toBe(5);
      await gate.pauseByHand('h0.test', '');
      expect((await read()).workersWanted, '8 pages/s').toBe(4);
      await runs.pause('a');
      expect((await read()).workersWanted).toBe(0);
    });

    test('a worker that has settled nothing for too long counts as stuck; the last settle of the fleet is reported', async () => {
      const well = { ...WORKER, id: 'v', progress: { settledMsAgo: 200, unsettledMs: 200, stuckAfterMs: 60_000 } };
      const { read, now } = await setup([WORKER, well]);
      expect((await read()).workers).toMatchObject({ stuck: 1, lastSettleAt: now() - 1_200 });
    });

    test('a reader that knows of no settle reports its own start as the last one, not 1970', async () => {
      const { reader, now, step } = await setup();
      const begun = now();
      step(7 * MINUTE_MS);
      expect((await reader.read()).workers?.lastSettleAt).toBe(begun);
    });
  });
}
