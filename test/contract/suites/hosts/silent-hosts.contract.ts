import { afterAll, describe, expect, test } from 'vitest';
import type { Settlement } from '../../../../shared/ports/frontier/frontier.ts';
import { FAULTS_TO_OPEN } from '../../../../shared/task/host/breaker.ts';
import type { OpenStore } from '../../../support/stores/stores.ts';
import { pages, ROOM, setupOf } from '../frontier/frontier-setup.ts';

const SILENCE: Settlement = {
  outcome: { kind: 'retry', reason: 'connection', inMs: 500_000 },
  hostAnswered: false,
  hostTrouble: { kind: 'silent', reason: 'connection refused' },
};
const WAITS = { kind: 'defer' } as const;
const OUTAGE: Settlement = {
  outcome: WAITS,
  hostAnswered: false,
  hostTrouble: { kind: 'outage', reason: 'no answer' },
};
const HOUR_MS = 3_600_000;

/** When a host that has never answered a run is given up, and when not. */
export function describeSilentHosts(name: string, open: OpenStore, close?: () => Promise<void>): void {
  describe(`hosts that never answer, ${name}`, () => {
    if (close !== undefined) afterAll(close);

    /** Opens a run with pages of one host. `tell` settles the next one, `verdicts` releases all that are due. */
    async function setup(giveUpMs = HOUR_MS, count = 9) {
      const store = await setupOf(open)({}, { giveUpMs });
      const { frontier, runs } = store;
      await frontier.offer('r', pages(1, count));
      return {
        ...store,
        async tell(settlement: Settlement): Promise<void> {
          const { tasks } = await frontier.release({ ...ROOM, limit: 1 });
          expect(tasks.map(({ verdict }) => verdict)).toEqual(['go']);
          await frontier.settle('r', tasks[0]?.release ?? 0, settlement);
        },
        verdicts: async () => new Set((await frontier.release(ROOM)).tasks.map(({ verdict }) => verdict)),
        trouble: async () => (await runs.hosts('r', 1))[0]?.trouble,
        down: async () => (await runs.progress('r'))?.hostsDown,
      };
    }

    test('a silent host whose second try failed too is down a minute after the first, and not before', async () => {
      const { tell, frontier, verdicts, trouble, down, step, now } = await setup();
      const began = now();
      await tell(SILENCE);
      step(30_000);
      await tell(SILENCE);
      expect(await trouble()).toMatchObject({ kind: 'silent', reason: 'connection refused' });
      step(29_999);
      const { tasks } = await frontier.release({ ...ROOM, limit: 1 });
      expect(tasks.map(({ verdict }) => verdict)).toEqual(['go']);
      expect(await down()).toEqual({ count: 0, named: [] });
      step(1);
      expect(now() - began).toBe(60_000);
      expect(await verdicts()).toEqual(new Set(['host_down']));
      expect(await down()).toMatchObject({ count: 1 });
    });

    test('a silent host that was last asked more than a minute ago is asked once more before it is given up', async () => {
      const { tell, frontier, verdicts, step } = await setup();
      await tell(SILENCE);
      step(30_000);
      await tell(SILENCE);
      step(60_000);
      const { tasks } = await frontier.release({ ...ROOM, limit: 1 });
      expect(tasks.map(({ verdict }) => verdict)).toEqual(['go']);
      await frontier.settle('r', tasks[0]?.release ?? 0, SILENCE);
      expect(await verdicts()).toEqual(new Set(['host_down']));
    });

    test('errors during an outage of our own network do not open the breaker of a host', async () => {
      const { tell, gate, frontier } = await setup();
      for (let n = 0; n < FAULTS_TO_OPEN; n++) await tell({ ...OUTAGE, hostFault: 'connection errors' });
      expect(await gate.stillOpen('a.test')).toBe(true);
      expect((await frontier.release(ROOM)).tasks).toHaveLength(9);
    });

    test('when a silent host is down, its waiting tasks and retries fail, and the run names it', async () => {
      const { tell, frontier, trouble, down, step, now } = await setup();
      const began = now();
      await tell(SILENCE);
      step(30_000);
      await tell(SILENCE);
      await frontier.release({ ...ROOM, limit: 0 });
      step(30_000);
      const { tasks } = await frontier.release(ROOM);
      expect(tasks.map(({ verdict }) => verdict)).toEqual(Array(9).fill('host_down'));
      expect(await down()).toEqual({
        count: 1,
        named: [{ host: 'a.test', kind: 'silent', reason: 'connection refused' }],
      });
      await frontier.offer('r', pages(20, 20));
      expect(await trouble()).toEqual({ kind: 'silent', reason: 'connection refused', giveUpAt: began + 60_000 });
      expect((await frontier.release(ROOM)).tasks.map(({ verdict }) => verdict)).toEqual(['host_down']);
      expect(await down()).toMatchObject({ count: 1 });
    });

    test('a host that failed twice within less than 30 seconds is not down after a minute', async () => {
      const { tell, verdicts, step } = await setup();
      await tell(SILENCE);
      step(29_999);
      await tell(SILENCE);
      step(60_000);
      expect(await verdicts()).toEqual(new Set(['go']));
    });

    test.each<[string, Settlement]>([
      ['a page', { outcome: { kind: 'done' }, hostAnswered: true }],
      ['an error', { outcome: WAITS, hostAnswered: false, hostTrouble: { kind: 'answered', reason: 'HTTP 503' } }],
      ['its robots.txt alone, and was then silent', { ...SILENCE, hostSpoke: true }],
      ['its robots.txt alone, and was not asked further', { outcome: WAITS, hostSpoke: true }],
    ])('a host that has answered this run with %s is not down after a minute of silence', async (_, answer) => {
      const { tell, verdicts, trouble, step, now } = await setup(10 * HOUR_MS);
      await tell(answer);
      step(HOUR_MS);
      const began = now();
      for (let n = 0; n < 3; n++) {
        await tell(SILENCE);
        step(60_000);
      }
      expect(await trouble()).toMatchObject({ kind: 'answered' });
      expect(await verdicts()).toEqual(new Set(['go']));
      expect(now() - began).toBeGreaterThan(60_000);
    });

    test('a host that answered with a redirect is not down after a minute of silence', async () => {
      const { frontier, tell, verdicts, trouble, step } = await setup();
      const { tasks } = await frontier.release({ ...ROOM, limit: 1 });
      const [{ task, release } = { task: undefined, release: 0 }] = tasks;
      if (task === undefined) throw new Error('nothing was released');
      const moved = { ...task, redirects: ['http://a.test/elsewhere'] };
      await frontier.settle('r', release, { ...SILENCE, moved });
      step(30_000);
      await tell(SILENCE);
      step(30_000);
      expect(await trouble()).toMatchObject({ kind: 'answered' });
      expect(await verdicts()).toEqual(new Set(['go']));
    });

    test('a task that was put back before its host was asked says nothing about the host', async () => {
      const { tell, verdicts, trouble, step } = await setup();
      await tell({ outcome: WAITS });
      expect(await trouble()).toBeUndefined();
      await tell(SILENCE);
      step(30_000);
      await tell({ outcome: WAITS });
      await tell(SILENCE);
      step(30_000);
      expect(await verdicts()).toEqual(new Set(['host_down']));
    });

    test('only retries of a silent host come sooner than they asked', async () => {
      const { frontier, tell, step } = await setup(HOUR_MS, 2);
      await tell({ outcome: { kind: 'retry', reason: 'http_4xx', inMs: 60_000 }, hostAnswered: true });
      await tell({ outcome: { kind: 'defer', inMs: 60_000 } });
      step(59_999);
      expect((await frontier.release(ROOM)).tasks).toEqual([]);
      step(1);
      expect((await frontier.release(ROOM)).tasks).toHaveLength(2);
    });

    test('a host that answered only another run is down after a minute of silence', async () => {
      const { frontier, runs, tell, verdicts, step } = await setup();
      await tell({ outcome: { kind: 'done' }, hostAnswered: true });
      await runs.cancel('r');
      await frontier.drain();
      await runs.open('s', { ...(await runs.open('r', {} as never, 'q')).options, dedup: 'run' }, 'p');
      await frontier.offer('s', pages(1, 9));
      for (let n = 0; n < 2; n++) {
        const { tasks } = await frontier.release({ ...ROOM, limit: 1 });
        await frontier.settle('s', tasks[0]?.release ?? 0, SILENCE);
        step(30_000);
      }
      expect(await verdicts()).toEqual(new Set(['host_down']));
    });

    test('an outage of our own network does not give a host up after a minute, only after the give-up time', async () => {
      const { tell, verdicts, trouble, down, runs, step } = await setup(200_000);
      await tell(SILENCE);
      step(20_000);
      for (let n = 0; n < 5; n++) {
        await tell(OUTAGE);
        step(30_000);
      }
      expect(await trouble()).toMatchObject({ kind: 'outage', reason: 'no answer' });
      expect((await runs.hosts('r', 1))[0]).toMatchObject({ pausedMs: 0, isUnreachable: false });
      step(29_999);
      await tell(OUTAGE);
      step(1);
      expect(await verdicts()).toEqual(new Set(['host_down']));
      expect(await down()).toMatchObject({ count: 1, named: [{ kind: 'outage' }] });
    });

    test('the minute of a silent host starts again after an outage', async () => {
      const { tell, verdicts, step } = await setup();
      await tell(SILENCE);
      step(30_000);
      await tell(OUTAGE);
      step(30_000);
      await tell(SILENCE);
      step(30_000);
      await tell(SILENCE);
      step(29_999);
      await tell(SILENCE);
      step(1);
      expect(await verdicts()).toEqual(new Set(['host_down']));
    });

    test('a give-up time below a minute also applies to a silent host', async () => {
      const { tell, verdicts, step } = await setup(20_000);
      await tell(SILENCE);
      step(10_000);
      await tell(SILENCE);
      step(10_000);
      expect(await verdicts()).toEqual(new Set(['host_down']));
    });

    test('the breaker of a silent host waits 15 seconds at a time, so that several tries fit into the minute', async () => {
      const { frontier, runs, step, now } = await setup(HOUR_MS, 30);
      const began = now();
      const { tasks } = await frontier.release({ ...ROOM, limit: 5 });
      const fault = { ...SILENCE, hostFault: 'connection errors' } as const;
      for (const { release } of tasks) await frontier.settle('r', release, fault);
      const tries: number[] = [];
      for (;;) {
        const [{ pausedMs = 0 } = {}] = await runs.hosts('r', 1);
        step(pausedMs);
        const [probe, ...others] = (await frontier.release(ROOM)).tasks;
        if (probe?.verdict !== 'go') {
          expect([probe?.verdict, ...others.map(({ verdict }) => verdict)]).toEqual(Array(30).fill('host_down'));
          break;
        }
        expect(others, 'one task tries it').toEqual([]);
        tries.push(now() - began);
        await frontier.settle('r', probe.release, fault);
      }
      expect(tries).toEqual([15_000, 30_000, 45_000]);
    });

    test('a host that has answered is paused for as long as its robots.txt trouble asks; a silent one is not', async () => {
      const { tell, runs } = await setup();
      const paused = async () => (await runs.hosts('r', 1))[0]?.pausedMs;
      const trouble = { kind: 'silent', reason: 'time-outs', pauseMs: 120_000 } as const;
      await tell({ outcome: WAITS, hostAnswered: false, hostTrouble: trouble });
      expect(await paused()).toBe(0);
      await tell({ outcome: WAITS, hostAnswered: false, hostSpoke: true, hostTrouble: trouble });
      expect(await paused()).toBe(120_000);
    });

    test('time in which the run was paused does not count towards giving a host up', async () => {
      const { tell, verdicts, trouble, down, step, runs } = await setup();
      const error = { ...SILENCE, hostTrouble: { kind: 'answered', reason: 'HTTP 500' } } as const;
      await tell(error);
      await runs.pause('r');
      step(10 * HOUR_MS);
      await runs.resume('r');
      await tell(error);
      step(1_000);
      expect([await trouble(), await verdicts(), await down()]).toMatchObject([
        { kind: 'answered' },
        new Set(['go']),
        { count: 0 },
      ]);
    });

    test('a run names the first ten hosts that are down and counts them all', async () => {
      const { frontier, down, step } = await setup(20_000);
      const hosts = Array.from({ length: 12 }, (_, n) => `h${String(n).padStart(2, '0')}.test`);
      for (const host of hosts) await frontier.offer('r', pages(1, 2, host));
      for (let n = 0; n < 2; n++) {
        const { tasks } = await frontier.release(ROOM);
        for (const { release } of tasks) await frontier.settle('r', release, { ...SILENCE, outcome: WAITS });
        step(10_000);
      }
      await frontier.release(ROOM);
      const { count, named = [] } = (await down()) ?? {};
      expect(count).toBe(13);
      expect(named.map(({ host }) => host)).toEqual(['a.test', ...hosts].slice(0, 10));
    });
  });
}
