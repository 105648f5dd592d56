import { afterAll, describe, expect, test } from 'vitest';
import { ALONE_FROM_STARTS, MAX_STARTS } from '../../../../shared/ports/frontier/frontier.ts';
import { LEAD_MS } from '../../../../shared/stores/policy.ts';
import type { Outcome } from '../../../../shared/task/task/outcome.ts';
import { offerAll } from '../../../support/stores/offer-all.ts';
import type { OpenStore } from '../../../support/stores/stores.ts';
import { OPTIONS, page, pages, ROOM, releases, setupOf, urls } from './frontier-setup.ts';

/** The promises of every frontier about tasks in flight: how long they are left alone, and who may settle them. */
export function describeLeases(name: string, open: OpenStore, close: () => Promise<void> = async () => {}): void {
  describe(`leases: ${name}`, () => {
    afterAll(close);
    const setup = setupOf(open);

    test('a task past its deadline gets the verdict `deadline` from both release and admit', async () => {
      const { frontier, step } = await setup();
      await frontier.offer('r', [page(1, 'a.test', { deadlineMs: 10_000 }), page(2, 'a.test', { deadlineMs: 10_000 })]);
      await frontier.release({ ...ROOM, limit: 1 });
      step(10_000);
      expect(await frontier.admit('r', 1, 'w')).toMatchObject({ verdict: 'deadline' });
      expect((await frontier.release(ROOM)).tasks).toMatchObject([{ verdict: 'deadline', release: 2 }]);
    });

    test('a release carries the store’s time, so that callers can compare deadlines with it', async () => {
      const { frontier, step } = await setup();
      await frontier.offer('r', [page(1, 'a.test', { deadlineMs: 10_000 })]);
      step(4_000);
      const { now, tasks } = await frontier.release(ROOM);
      expect((tasks[0]?.state.deadline ?? 0) - now).toBe(6_000);
    });

    test('a lease lasts 60 s publishing, TTL + 5 min or deadline + 1 min queued, 60 s working from each renewal', async () => {
      const { frontier, step } = await setup({}, { priorityTtlMs: 1_800_000, normalTtlMs: 3_600_000 });
      await frontier.offer('r', [...pages(1, 3), page(4, 'a.test', { deadlineMs: 600_000 })]);
      await frontier.release(ROOM);
      await frontier.offer('r', [
        page(5, 'b.test', { queue: 'priority' }),
        page(6, 'b.test', { deadlineMs: 90_000_000 }),
      ]);
      expect(urls(await frontier.release(ROOM))).toEqual(['b.test/5', 'b.test/6']);
      await frontier.queued('r', [2, 3, 4, 5, 6]);
      await frontier.admit('r', 3, 'w');
      step(59_999);
      expect(await frontier.reap()).toBe(0);
      step(1);
      expect(await frontier.reap(), 'publishing and working').toBe(2);
      expect(releases(await frontier.release(ROOM))).toEqual([7, 8]);
      await frontier.admit('r', 7, 'w');
      step(40_000);
      // Release 6 is queued, and a renewal is for what is worked on.
      await frontier.renew('r', [6, 7]);
      step(59_999);
      expect(await frontier.reap(), 'the renewed one stays').toBe(1);
      step(1);
      expect(await frontier.reap(), 'the worker that fell silent').toBe(1);
      step(499_999);
      expect(await frontier.reap(), 'the rest was put back, the queued ones hold').toBe(0);
      step(1);
      expect(await frontier.reap(), 'deadline and a minute').toBe(1);
      step(1_439_999);
      expect(await frontier.reap()).toBe(0);
      step(1);
      expect(await frontier.reap(), 'TTL of the priority queue and 5 minutes').toBe(1);
      step(1_799_999);
      expect(await frontier.reap()).toBe(0);
      step(1);
      expect(await frontier.reap(), 'TTL of the normal queue and 5 minutes, since the other deadline is later').toBe(2);
    });

    test('a call ends at most 500 lapsed leases, or counts at most 250 waiting tasks as cancelled', async () => {
      const { frontier, runs, step } = await setup();
      await offerAll(frontier, 'r', pages(1, 600));
      for (let n = 0; n < 3; n++) await frontier.release(ROOM);
      step(60_000);
      expect([await frontier.reap(), await frontier.reap(), await frontier.reap()]).toEqual([500, 100, 0]);
      expect(await runs.progress('r')).toMatchObject({ waiting: 600, inFlight: 0 });
      await runs.cancel('r');
      const drained = [await frontier.drain(), await frontier.drain(), await frontier.drain(), await frontier.drain()];
      expect(drained).toEqual([250, 250, 100, 0]);
      expect(await runs.progress('r')).toMatchObject({ waiting: 0, cancelled: 600, endedAt: expect.any(Number) });
    });

    test('a lease that lapses after its run was paused or cancelled is ended as well, and then the cancelled run ends', async () => {
      const { frontier, runs, step } = await setup();
      await runs.open('paused', OPTIONS, 'p');
      await frontier.offer('r', [page(1)]);
      await frontier.offer('paused', [page(2, 'b.test')]);
      await frontier.release(ROOM);
      await runs.cancel('r');
      await runs.pause('paused');
      step(60_000);
      expect((await runs.progress('r'))?.endedAt).toBeUndefined();
      expect(await frontier.reap()).toBe(2);
      expect(await runs.progress('r')).toMatchObject({
        inFlight: 0,
        waiting: 0,
        cancelled: 1,
        endedAt: expect.any(Number),
      });
      expect(await runs.progress('paused')).toMatchObject({ inFlight: 0, waiting: 1, cancelled: 0 });
      expect(await frontier.offer('paused', [page(1)]), 'its mark is free').toEqual({ accepted: 1, known: 0 });
    });

    test('ending queued tasks after a broker wipe makes them wait again at once; their late deliveries are dropped', async () => {
      const { frontier, runs } = await setup();
      await offerAll(frontier, 'r', pages(1, 700));
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

    test('a task handed over without an ack has a lease of a minute, before or after its confirm, and no start counted', async () => {
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

    test('a hand-over reported after the admission changes nothing: a deferral still gives the start back', async () => {
      const { frontier, biographer, step } = await setup();
      await frontier.offer('r', [page(1)]);
      for (let release = 1; release <= MAX_STARTS + 2; release++) {
        await frontier.release(ROOM);
        expect(await frontier.admit('r', release, 'w')).toMatchObject({ verdict: 'work', state: { starts: 1 } });
        step(1_000);
        await frontier.handed('r', [release]);
        const { place } = (await biographer.trace('r', { mark: 'http://a.test/1', host: 'a.test' })) ?? {};
        expect(place).toMatchObject({ at: 'working', worker: 'w', leaseMs: 59_000 });
        await frontier.settle('r', release, { outcome: { kind: 'defer' } });
      }
    });

    test('a task that never settles is at its third start when it must run alone, and a crash loop after its sixth', async () => {
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
      // The verdict could not be settled: the next admission finds the crash loop again and does not fetch.
      await frontier.settle('r', MAX_STARTS + 1, { outcome: { kind: 'defer' } });
      await frontier.release(ROOM);
      expect(await frontier.admit('r', MAX_STARTS + 2, 'w')).toMatchObject({ verdict: 'crash_loop' });
    });

    test('a task put back before its host was asked takes back that one start; after the host was asked, all of them', async () => {
      const { frontier, step } = await setup();
      await frontier.offer('r', [page(1)]);
      let release = 0;
      const admit = async (): Promise<object> => {
        await frontier.release(ROOM);
        return await frontier.admit('r', ++release, 'w');
      };
      for (let killed = 1; killed <= 2; killed++) {
        expect(await admit()).toMatchObject({ state: { starts: killed } });
        step(60_000);
        await frontier.reap();
      }
      expect(await admit()).toMatchObject({ state: { starts: 3 } });
      await frontier.settle('r', release, { outcome: { kind: 'defer' } });
      // This release was never admitted, so there is no start to take back.
      await frontier.release(ROOM);
      await frontier.settle('r', ++release, { outcome: { kind: 'defer' } });
      expect(await admit()).toMatchObject({ state: { starts: 3 } });
      await frontier.settle('r', release, { outcome: { kind: 'defer', inMs: 1 }, hostAnswered: false });
      step(1);
      expect(await admit()).toMatchObject({ state: { starts: 1 } });
      step(60_000);
      await frontier.reap();
      expect(await admit()).toMatchObject({ state: { starts: 2 } });
      await frontier.settle('r', release, { outcome: { kind: 'retry', reason: 'step', inMs: 1 } });
      step(1);
      expect(await admit(), 'so does any failed attempt').toMatchObject({ state: { starts: 1 } });
    });

    test('a host without a free slot gets no further tasks until it has one; other hosts are released meanwhile', async () => {
      const { frontier, step } = await setup();
      await frontier.offer('r', [...pages(1, 3), page(1, 'b.test')]);
      expect(urls(await frontier.release({ ...ROOM, limit: 1 }))).toEqual(['a.test/1']);
      await frontier.settle('r', 1, { outcome: { kind: 'defer' }, hostFreeInMs: 5_000 });
      expect(urls(await frontier.release(ROOM))).toEqual(['b.test/1']);
      step(5_000 - LEAD_MS - 1);
      expect(await frontier.release(ROOM)).toMatchObject({ tasks: [], nextLookMs: 1 });
      step(1);
      expect(urls(await frontier.release(ROOM))).toEqual(['a.test/1', 'a.test/2', 'a.test/3']);
    });

    test('a cancelled run is drained whole, however many hosts it has, and lists none of them any more', async () => {
      const { frontier, runs } = await setup();
      const hosts = Array.from({ length: 450 }, (_, n) => page(1, `h${n}.test`));
      await frontier.offer('r', hosts);
      await runs.cancel('r');
      let drained = 0;
      for (let some = await frontier.drain(); some > 0; some = await frontier.drain()) drained += some;
      expect(drained).toBe(hosts.length);
      expect(await runs.progress('r')).toMatchObject({
        waiting: 0,
        cancelled: hosts.length,
        endedAt: expect.any(Number),
      });
      expect(await runs.hosts('r', 9)).toEqual([]);
    });

    test.each<[string, Outcome]>([
      ['put back', { kind: 'defer' }],
      ['put off', { kind: 'defer', inMs: 60_000 }],
      ['asked to wait', { kind: 'defer', host: { pauseMs: 60_000, reason: 'Retry-After' } }],
      ['to be retried', { kind: 'retry', reason: 'timeout', inMs: 60_000 }],
    ])('a task that is %s after its run was cancelled is cancelled at once', async (_, outcome) => {
      const { frontier, runs } = await setup();
      await frontier.offer('r', pages(1, 1));
      await frontier.release(ROOM);
      await runs.cancel('r');
      await frontier.settle('r', 1, { outcome });
      expect(await runs.progress('r')).toMatchObject({ waiting: 0, inFlight: 0, cancelled: 1 });
      expect(await runs.counts()).toMatchObject({ open: 0 });
    });

    test('a host with nothing left to release stays out of the list of waiting hosts, even without a free slot', async () => {
      const { frontier, runs } = await setup();
      await frontier.offer('r', pages(1, 2));
      await frontier.release(ROOM);
      await frontier.settle('r', 1, {
        outcome: { kind: 'retry', reason: 'timeout', inMs: 60_000 },
        hostFreeInMs: 5_000,
      });
      await frontier.settle('r', 2, { outcome: { kind: 'done' }, hostFreeInMs: 5_000 });
      expect([await runs.hosts('r', 9), await runs.hostCount('r')]).toEqual([[], 0]);
    });

    test('a release is identified by number and mark: calls with a wrong mark or number are refused as stale', async () => {
      const { port, frontier, runs, step } = await setup();
      await frontier.offer('r', pages(1, 2));
      const [first] = (await port.release(ROOM)).tasks;
      const release = first?.release ?? 0;
      const wrong = { release, mark: 'http://a.test/2' };
      const right = { release, mark: 'http://a.test/1' };
      const expectRefused = async (): Promise<void> => {
        for (const name of [wrong, { ...right, release: release - 1 }]) {
          expect(await port.admit('r', name, 'w')).toEqual({ verdict: 'gone' });
          expect(await port.claim('r', name, 'http://a.test/3')).toBe('stale');
          expect(await port.offer('r', [page(3)], { parent: { ...name, tally: { stamp: 's', links: 0 } } })).toEqual({
            refused: 'parent',
          });
          const throttled = { kind: 'defer', host: { reason: 'HTTP 429' } } as const;
          for (const outcome of [{ kind: 'done' }, { kind: 'defer' }, throttled] as const)
            expect(await port.settle('r', name, { outcome })).toBe('already');
          await port.queued('r', [name]);
          await port.handed('r', [name]);
          await port.renew('r', [name]);
        }
      };
      await expectRefused();
      expect(await port.markOf('r', release)).toBe('http://a.test/1');
      expect(await runs.progress('r')).toMatchObject({ inFlight: 2, waiting: 0, done: 0 });
      step(59_999);
      expect(await port.admit('r', right, 'w')).toMatchObject({ verdict: 'work', state: { starts: 1 } });
      step(59_999);
      await expectRefused();
      expect(await frontier.reap(), 'the other one, which nobody got').toBe(1);
      step(1);
      expect(await frontier.reap(), 'the lease was not renewed').toBe(1);
      expect(await port.settle('r', right, { outcome: { kind: 'done' } }), 'stale by now').toBe('already');
    });

    test('release numbers increase and stay below 2^53 whatever the clock says', async () => {
      const { port, frontier, step, now } = await setup();
      await frontier.offer('r', pages(1, 3));
      const numbers: number[] = [];
      for (const year of [2027, 2255, 9999]) {
        step(Math.max(0, Date.UTC(year) - now()));
        for (const { release } of (await port.release({ ...ROOM, limit: 1 })).tasks) numbers.push(release);
      }
      expect(numbers.map((number, i) => Number.isSafeInteger(number) && number > (numbers[i - 1] ?? 0))).toEqual([
        true,
        true,
        true,
      ]);
      expect(numbers[0]).toBeGreaterThan(Date.UTC(2027) * 1_000);
    });

    test('a redelivered release is taken over by its new worker, and the first of the two to settle wins', async () => {
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
  });
}
