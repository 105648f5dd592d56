import { afterAll, describe, expect, test } from 'vitest';
import type { Settlement } from '../../../../shared/ports/frontier/frontier.ts';
import type { FrontierPolicy } from '../../../../shared/stores/policy.ts';
import { HOUR_MS } from '../../../../shared/task/durations.ts';
import { type HostFault, PAGE_FAULT } from '../../../../shared/task/host/breaker.ts';
import { FAST_RUN } from '../../../support/builders.ts';
import { offerOf } from '../../../support/stores/embedded.ts';
import type { OpenStore } from '../../../support/stores/stores.ts';
import { ROOM } from '../frontier/frontier-setup.ts';
import { ANSWER, fault, openBreaker, REFUSED } from './breaker-setup.ts';

/** The promises of every store about a host that keeps failing: its circuit breaker opens. */
export function describeBreaker(name: string, open: OpenStore, close: () => Promise<void> = async () => {}): void {
  describe(`breaker: ${name}`, () => {
    afterAll(close);

    const setup = (policy?: Partial<FrontierPolicy>) => openBreaker(open, policy);

    test('five errors in a row open the breaker for a minute: release, admission and gate all stop for the host', async () => {
      const { release, settle, frontier, gate, hosts, host, step } = await setup();
      const [first = 0, ...others] = await release(6);
      await settle(others.slice(0, 4), REFUSED);
      expect(await host()).toMatchObject({ pausedMs: 0, isUnreachable: false });
      await settle(others.slice(4), REFUSED);
      expect(await host()).toMatchObject({
        pausedMs: 60_000,
        reason: '5 connection errors in a row',
        isUnreachable: true,
      });
      expect(await hosts.paused(9)).toMatchObject([{ host: 'a.test', isUnreachable: true }]);
      expect(await release()).toEqual([]);
      expect(await frontier.admit('r', first, 'w')).toEqual({ verdict: 'put_back' });
      expect(await gate.ask('a.test', { intervalMs: 0, concurrency: 2 }, 'x')).toMatchObject({ because: 'pause' });
      step(59_999);
      expect(await release()).toEqual([]);
    });

    test('an answer that is no fault of the host starts the count of errors again', async () => {
      const { release, settle, host } = await setup();
      const releases = await release(9);
      await settle(releases.slice(0, 4), REFUSED);
      await settle(releases.slice(4, 5), { outcome: { kind: 'failed', reason: 'http_4xx' }, hostAnswered: true });
      await settle(releases.slice(5, 9), REFUSED);
      expect(await host()).toMatchObject({ pausedMs: 0 });
    });

    test('an outcome that says nothing about the host does not change the count of errors', async () => {
      const { release, settle, host } = await setup();
      const releases = await release(6);
      await settle(releases.slice(0, 4), REFUSED);
      await settle(releases.slice(4, 5), { outcome: { kind: 'defer' } });
      await settle(releases.slice(5), REFUSED);
      expect(await host()).toMatchObject({ pausedMs: 60_000 });
    });

    test.each<[HostFault[], string]>([
      [Array(5).fill('time-outs'), '5 time-outs in a row'],
      [Array(5).fill('answers of 5xx'), '5 answers of 5xx in a row'],
      [['time-outs', ...Array(4).fill('connection errors')], '5 errors in a row'],
    ])('the faults %j open the breaker because of "%s"', async (faults, reason) => {
      const { release, settle, host } = await setup();
      for (const kind of faults) await settle(await release(1), fault(kind));
      expect(await host()).toMatchObject({ reason });
    });

    test('a page that answers 500 again and again counts once; only 500s of other pages open the breaker', async () => {
      const { release, settle, host, step } = await setup();
      const [first = 0, ...others] = await release(8);
      const again: Settlement = {
        ...fault('answers of 500'),
        outcome: { kind: 'retry', reason: 'http_5xx', inMs: 1_000 },
      };
      await settle([first], again);
      for (let n = 0; n < 6; n++) {
        step(1_000);
        const tried = await release(1);
        expect(tried.length).toBe(1);
        await settle(tried, again);
      }
      expect(await host()).toMatchObject({ pausedMs: 0, isUnreachable: false });
      await settle(others.slice(0, 3), again);
      expect(await host()).toMatchObject({ pausedMs: 0 });
      await settle(others.slice(3, 4), again);
      expect(await host()).toMatchObject({ reason: '5 answers of 500 in a row' });
    });

    test('connection errors of one page count each time', async () => {
      const { release, settle, host, step } = await setup();
      const again: Settlement = { ...REFUSED, outcome: { kind: 'retry', reason: 'connection', inMs: 1_000 } };
      for (let n = 0; n < 5; n++) {
        await settle(await release(1), again);
        step(1_000);
      }
      expect(await host()).toMatchObject({ isUnreachable: true });
    });

    test('after the pause one task, the last of its list, probes the host, and its answer releases the others at once', async () => {
      const { openIt, release, settle, frontier, host, step } = await setup();
      await openIt();
      step(60_000);
      const { tasks } = await frontier.release(ROOM);
      expect(tasks.map(({ task }) => task.url)).toEqual(['http://a.test/20']);
      expect(await host()).toMatchObject({ pausedMs: 0, isUnreachable: true });
      expect(await release()).toEqual([]);
      expect(await frontier.admit('r', 6, 'w')).toMatchObject({ verdict: 'work', state: { attempts: 0 } });
      await settle([6], ANSWER);
      expect(await host()).toMatchObject({ isUnreachable: false });
      expect((await release()).length).toBe(14);
    });

    test('each failed probe doubles the time the breaker stays open, up to an hour', async () => {
      const { openIt, release, settle, host, step } = await setup();
      await openIt();
      const minutes: number[] = [];
      for (let n = 0; n < 8; n++) {
        const { pausedMs = 0 } = (await host()) ?? {};
        minutes.push(pausedMs / 60_000);
        step(pausedMs);
        const probe = await release();
        expect(probe.length).toBe(1);
        await settle(probe, REFUSED);
      }
      expect(minutes).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
      expect(await host()).toMatchObject({ reason: '13 connection errors in a row' });
    });

    test('after an answer the breaker opens for a minute again', async () => {
      const { openIt, release, settle, host, step } = await setup();
      await openIt();
      step(60_000);
      await settle(await release(), REFUSED);
      step(120_000);
      await settle(await release(), ANSWER);
      await openIt();
      expect(await host()).toMatchObject({ pausedMs: 60_000 });
    });

    test('a run that starts while no other is open probes the host at once, with one task', async () => {
      const { openIt, offer, release, frontier, runs, host, step } = await setup();
      await openIt();
      await runs.open('s', FAST_RUN, 'p');
      await offer('s', 31, 35);
      expect(await host(), 'another run is open').toMatchObject({ pausedMs: 60_000 });
      await runs.cancel('r');
      await runs.cancel('s');
      while ((await frontier.drain()) > 0);
      expect(await runs.counts()).toMatchObject({ open: 0 });
      await runs.open('t', FAST_RUN, 'p');
      await offer('t', 41, 45);
      const [probe = 0, ...more] = await release();
      expect([probe > 0, more]).toEqual([true, []]);
      await frontier.admit('t', probe, 'w');
      await frontier.settle('t', probe, REFUSED);
      step(60_000);
      expect(await release(), 'open again, twice as long').toEqual([]);
      step(60_000);
      expect((await release()).length).toBe(1);
    });

    test('up to a fifth is added to the pause, so that hosts that failed together are not probed together', async () => {
      const { openIt, host, step } = await setup();
      step(500);
      await openIt();
      expect(await host()).toMatchObject({ pausedMs: 66_000 });
    });

    test('requests that were under way when the breaker opened do not prolong it when they fail', async () => {
      const { release, settle, host, step } = await setup();
      const releases = await release(9);
      await settle(releases.slice(0, 5), REFUSED);
      step(10_000);
      await settle(releases.slice(5), REFUSED);
      expect(await host()).toMatchObject({ pausedMs: 50_000 });
      step(50_000);
      expect((await release()).length).toBe(1);
    });

    test('an answer to a request that was under way when the breaker opened closes it', async () => {
      const { release, settle, gate, host } = await setup();
      const releases = await release(6);
      await settle(releases.slice(0, 5), REFUSED);
      await settle(releases.slice(5), ANSWER);
      expect(await host()).toMatchObject({ pausedMs: 0, isUnreachable: false });
      expect(await gate.stillOpen('a.test')).toBe(true);
      expect((await release()).length).toBe(14);
    });

    test('an answer to the probe that asks for a pause closes the breaker, and the pause is kept', async () => {
      const { openIt, release, settle, host, step } = await setup();
      await openIt();
      step(60_000);
      const asked = { pauseMs: 20_000, reason: 'HTTP 503, Retry-After' };
      await settle(await release(), { outcome: { kind: 'defer', host: asked }, hostAnswered: false });
      expect(await host()).toMatchObject({ pausedMs: 20_000, reason: asked.reason, isUnreachable: false });
      step(20_000);
      expect((await release()).length).toBe(15);
    });

    test('a longer pause for another reason, or one by hand, is kept when the breaker opens or closes', async () => {
      const { release, settle, gate, host } = await setup();
      const releases = await release(7);
      await gate.pause('a.test', HOUR_MS, 'Retry-After');
      await settle(releases.slice(0, 5), REFUSED);
      expect(await host()).toMatchObject({ pausedMs: HOUR_MS, reason: 'Retry-After', isUnreachable: false });
      await settle(releases.slice(5, 6), ANSWER);
      expect(await host()).toMatchObject({ pausedMs: HOUR_MS, reason: 'Retry-After' });
      await gate.pauseByHand('a.test', 'they called');
      await settle(releases.slice(6), ANSWER);
      expect(await host()).toMatchObject({ byHand: true, reason: 'they called' });
    });

    test('resuming the host by hand closes the breaker', async () => {
      const { openIt, release, gate } = await setup();
      await openIt();
      expect(await gate.resume('a.test')).toMatchObject({
        ms: 60_000,
        reason: '5 connection errors in a row',
        isUnreachable: true,
      });
      expect((await release()).length).toBe(15);
    });

    test('of the deliveries still out after the pause of the breaker, one is admitted as the probe', async () => {
      const { release, settle, frontier, step } = await setup();
      const releases = await release(9);
      await settle(releases.slice(0, 5), REFUSED);
      step(60_000);
      const verdicts: string[] = [];
      for (const each of releases.slice(5)) verdicts.push((await frontier.admit('r', each, 'w')).verdict);
      expect(verdicts).toEqual(['work', 'put_back', 'put_back', 'put_back']);
      expect(await release()).toEqual([]);
      expect(await frontier.admit('r', 6, 'another'), 'taken over').toMatchObject({ verdict: 'work' });
    });

    test('a probe that is put back before it asked the host is replaced by the next task at once', async () => {
      const { openIt, release, settle, frontier, runs, step } = await setup();
      await openIt();
      step(60_000);
      await settle(await release(), { outcome: { kind: 'defer' } });
      expect(await release()).toEqual([7]);
      await runs.pause('r');
      expect(await frontier.admit('r', 7, 'w')).toEqual({ verdict: 'put_back' });
      await runs.resume('r');
      expect(await release()).toEqual([8]);
      await frontier.fail('r', [8], 'deadline');
      expect(await release(), 'one that was failed, too').toEqual([9]);
    });

    test('a lost probe is replaced after a minute, or after two if it was admitted', async () => {
      const { openIt, release, frontier, step } = await setup();
      await openIt();
      step(60_000);
      expect(await release()).toEqual([6]);
      step(59_999);
      expect(await release()).toEqual([]);
      step(1);
      expect(await release()).toEqual([7]);
      await frontier.admit('r', 7, 'w');
      step(119_999);
      expect(await release()).toEqual([]);
      step(1);
      expect(await release()).toEqual([8]);
    });

    test('two runs on one host share one probe, and its answer releases the tasks of both', async () => {
      const { openIt, offer, settle, frontier, runs, step } = await setup();
      await runs.open('s', FAST_RUN, 'p');
      await offer('s', 1, 3);
      await openIt();
      step(60_000);
      const { tasks } = await frontier.release(ROOM);
      expect(tasks.length).toBe(1);
      const [{ task, release } = { task: undefined, release: 0 }] = tasks;
      expect(task?.run).toBe('r');
      await settle([release], ANSWER);
      const flowing = (await frontier.release(ROOM)).tasks.map((each) => each.task.run);
      expect(new Set(flowing)).toEqual(new Set(['r', 's']));
    });

    test('a page fault on a page that failed before counts against the host if that page is the probe', async () => {
      const { release, settle, host, step } = await setup();
      const soon = (hostFault: HostFault): Settlement => ({
        ...fault(hostFault),
        outcome: { kind: 'retry', reason: 'http_5xx', inMs: 1_000 },
      });
      await settle(await release(), soon('answers of 5xx'));
      step(60_000);
      const tried = await release();
      expect(tried.length).toBe(1);
      await settle(tried, soon(PAGE_FAULT));
      expect(await host()).toMatchObject({ pausedMs: 120_000, isUnreachable: true });
    });

    test('a probe that is redirected to another host closes the breaker of the first one', async () => {
      const { openIt, release, frontier, host, step } = await setup();
      await openIt();
      step(60_000);
      const { tasks } = await frontier.release(ROOM);
      const [tried] = tasks;
      if (tried === undefined) throw new Error('nobody tries it');
      const moved = { ...tried.task, host: 'b.test', redirects: ['http://b.test/'] };
      await frontier.settle('r', tried.release, { outcome: { kind: 'done' }, moved });
      expect(await host()).toMatchObject({ host: 'a.test', pausedMs: 0, isUnreachable: false });
      expect((await release()).length).toBe(14);
    });

    test('a host that gave nothing but errors for the give-up time is down, even while its breaker is open', async () => {
      const { openIt, settle, release, frontier, step } = await setup({ giveUpMs: 150_000 });
      await openIt();
      step(60_000);
      await settle(await release(), REFUSED);
      expect((await frontier.release(ROOM)).nextLookMs).toBeLessThanOrEqual(90_000);
      step(90_000);
      const { tasks } = await frontier.release(ROOM);
      expect(tasks.map(({ verdict }) => verdict)).toEqual(Array(14).fill('host_down'));
    });

    test('a host is found to be down in time although the gate has put back one of its tasks', async () => {
      const { release, settle, frontier, step } = await setup({ giveUpMs: 20_000 });
      const releases = await release(6);
      await settle(releases.slice(0, 5), REFUSED);
      await frontier.settle('r', 6, { outcome: { kind: 'defer' }, hostFreeInMs: 60_000 });
      step(20_000);
      const { tasks } = await frontier.release(ROOM);
      expect(tasks.map(({ verdict }) => verdict)).toEqual(Array(15).fill('host_down'));
    });

    test('the three attempts of a single page never open the breaker', async () => {
      const { frontier, runs, step } = await setup();
      await runs.open('one', { ...FAST_RUN, dedup: 'run' }, 'p');
      await frontier.offer('one', [offerOf('http://single.test/')]);
      for (let attempt = 0; attempt < 3; attempt++) {
        const { tasks } = await frontier.release(ROOM);
        const own = tasks.find(({ task }) => task.run === 'one');
        expect(own?.state.attempts).toBe(attempt);
        const outcome = { kind: 'retry', reason: 'connection', inMs: 1_000 } as const;
        await frontier.settle('one', own?.release ?? 0, { ...REFUSED, outcome });
        step(1_000);
      }
      expect(await runs.progress('one')).toMatchObject({ waiting: 1 });
    });
  });
}
