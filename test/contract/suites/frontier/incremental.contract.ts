import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Offer, PageVisit, Settlement } from '../../../../shared/ports/frontier/frontier.ts';
import type { RunOptions } from '../../../../shared/ports/runs.ts';
import { FAST_RUN } from '../../../support/builders.ts';
import type { OpenStore, Store } from '../../../support/stores/stores.ts';
import { ROOM } from './frontier-setup.ts';

const HOUR = 3_600_000;
const FACTS = { contentHash: 'h1', bytes: 1_000, readAs: 'page' };
const VISITED: PageVisit = { ...FACTS, etag: '"1"', askedMsAgo: 0, bytesSaved: 0 };
const TAKEN = { accepted: 1, known: 0 };
const KNOWN = { accepted: 0, known: 1 };

const markOfPage = (n: number): string => `http://a.test/${n}`;

function page(n: number, changedAt?: number): Offer {
  const url = markOfPage(n);
  return { url, mark: url, host: 'a.test', step: '', depth: 0, queue: 'normal', changedAt };
}

/** The promises of incremental runs: which marked URLs they take again, and what they remember of a page. */
export function describeIncremental(name: string, open: OpenStore, close: () => Promise<void> = async () => {}): void {
  describe(`incremental runs: ${name}`, () => {
    afterAll(close);

    async function setup() {
      const store = await open();
      onTestFinished(() => store.close());
      const steps = {
        begin: (run: string, options: Partial<RunOptions> = {}) =>
          store.runs.open(run, { ...FAST_RUN, dedup: 'ever', incremental: true, ...options }, 'p'),
        offer: (run: string, ...offers: Offer[]) => store.frontier.offer(run, offers),
        work: (run: string, settlement: Settlement = { outcome: { kind: 'done' }, page: VISITED }) =>
          work(store, run, settlement),
        end: async (run: string) => void (await store.runs.seal(run, 'p')),
      };
      return {
        ...store,
        ...steps,
        /** A complete earlier run, before the runs that the test is about. */
        async crawl(...offers: Offer[]): Promise<void> {
          await steps.begin('first');
          await steps.offer('first', ...offers);
          await steps.work('first');
          await steps.end('first');
        },
      };
    }

    /** Releases, admits and settles all tasks that are due. Returns the `known` facts of each admission. */
    async function work({ frontier }: Store, run: string, settlement: Settlement) {
      const { tasks } = await frontier.release(ROOM);
      const known = [];
      for (const { task, release } of tasks) {
        if (task.run !== run) continue;
        const admission = await frontier.admit(run, release, 'w');
        known.push('known' in admission ? admission.known : undefined);
        await frontier.settle(run, release, settlement);
      }
      return known;
    }

    test('a known URL is taken again if its sitemap says it changed after its last fetch; otherwise it is a duplicate', async () => {
      const { begin, offer, work, end, step, now, runs } = await setup();
      await begin('first');
      const [before, fetched] = [now(), now() + 5_000];
      step(5_000);
      expect(await offer('first', page(1, before), page(2, before), page(3))).toEqual({ accepted: 3, known: 0 });
      expect(await work('first')).toEqual([undefined, undefined, undefined]);
      await end('first');
      step(HOUR);
      await begin('second');
      const offers = [page(1, fetched + 1), page(2, fetched), page(3)];
      expect(await offer('second', ...offers)).toEqual({ accepted: 1, known: 2 });
      expect(await work('second')).toEqual([{ ...FACTS, etag: '"1"', fetchedAt: fetched }]);
      expect(await runs.progress('second')).toMatchObject({ discovered: 1, duplicate: 2, done: 1 });
    });

    test('a page is due again `recrawlAfterMs` after its fetch, changed or not', async () => {
      const { crawl, begin, offer, step } = await setup();
      await crawl(page(1));
      step(HOUR - 1);
      await begin('second', { recrawlAfterMs: HOUR });
      expect(await offer('second', page(1))).toEqual(KNOWN);
      step(1);
      expect(await offer('second', page(1))).toEqual(TAKEN);
    });

    test('the age of a page counts from its request, not from when its outcome was settled', async () => {
      const { begin, offer, work, end, step, now } = await setup();
      await begin('first');
      await offer('first', page(1));
      await work('first', { outcome: { kind: 'done' }, page: { ...VISITED, askedMsAgo: 2_000 } });
      await end('first');
      const asked = now() - 2_000;
      step(HOUR);
      await begin('second');
      expect(await offer('second', page(1, asked))).toEqual(KNOWN);
      expect(await offer('second', page(1, asked + 1))).toEqual(TAKEN);
    });

    test('a run takes a URL once, however often it is offered and whatever its sitemap says', async () => {
      const { begin, offer, work, end, step, now, frontier, runs } = await setup();
      await begin('first', { recrawlAfterMs: 1 });
      expect(await offer('first', page(1), page(1))).toEqual({ accepted: 1, known: 1 });
      await work('first');
      step(HOUR);
      expect(await offer('first', page(1, now()))).toEqual(KNOWN);
      await end('first');
      await begin('second', { recrawlAfterMs: 1 });
      expect(await offer('second', page(1, now()), page(1, now()))).toEqual({ accepted: 1, known: 1 });
      expect(await frontier.offer('second', [page(1, now())], { repeat: true })).toEqual(KNOWN);
      await work('second');
      step(HOUR);
      expect(await offer('second', page(1, now()))).toEqual(KNOWN);
      expect(await runs.progress('second')).toMatchObject({ discovered: 1, duplicate: 2 });
    });

    test('a run that is full leaves out pages that are due; pages that are not due still count as duplicates', async () => {
      const { crawl, begin, offer, step, now, frontier, runs } = await setup();
      await crawl(page(1), page(2));
      step(HOUR);
      await begin('second');
      const offers = [page(1, now()), page(2), page(3), page(1, now()), page(4)];
      expect(await frontier.offer('second', offers, { most: 2 })).toEqual({
        accepted: 2,
        known: 2,
        leftOut: { maxPages: 1 },
      });
      expect(await frontier.offer('second', offers, { most: 2 })).toEqual({
        accepted: 0,
        known: 4,
        leftOut: { maxPages: 1 },
      });
      expect(await frontier.offer('second', [page(2, now())], { most: 2 })).toEqual({
        accepted: 0,
        known: 0,
        leftOut: { maxPages: 1 },
      });
      expect(await offer('second', page(2, now()), page(4))).toEqual({ accepted: 2, known: 0 });
      expect(await runs.progress('second')).toMatchObject({ discovered: 4 });
    });

    test('a claimed redirect target counts as known, whatever its age, until the task that claimed it fails', async () => {
      const { begin, offer, end, step, frontier } = await setup();
      const goTo = async (n: number, settlement: Settlement) => {
        const [first] = (await frontier.release(ROOM)).tasks;
        if (first === undefined) throw new Error('nothing is due');
        const { release, task } = first;
        await frontier.admit(task.run, release, 'w');
        expect(await frontier.claim(task.run, release, markOfPage(n))).toBe('claimed');
        expect(await offer(task.run, page(n))).toEqual(KNOWN);
        await frontier.settle(task.run, release, settlement);
      };
      await begin('run', { recrawlAfterMs: 1 });
      await offer('run', page(1));
      await goTo(2, { outcome: { kind: 'done' }, page: { ...VISITED, claimed: markOfPage(2) } });
      step(HOUR);
      expect(await offer('run', page(1), page(2), page(3))).toEqual({ accepted: 1, known: 2 });
      await goTo(4, { outcome: { kind: 'failed', reason: 'http_4xx' } });
      expect(await offer('run', page(4))).toEqual(TAKEN);
      await end('run');
    });

    test('a claim that the store lost and that settling repeats makes its URL known to the run', async () => {
      const { begin, offer, work, step, now } = await setup();
      await begin('run', { recrawlAfterMs: 1 });
      await offer('run', page(1));
      await work('run', { outcome: { kind: 'done' }, page: VISITED, claimed: markOfPage(2) });
      step(HOUR);
      expect(await offer('run', page(2, now()))).toEqual(KNOWN);
    });

    test('a page that is taken again comes with the redirect target it claimed last time', async () => {
      const { begin, offer, work, end, step, now } = await setup();
      await begin('first');
      await offer('first', page(1));
      const claimed = markOfPage(2);
      await work('first', { outcome: { kind: 'done' }, page: { ...VISITED, claimed } });
      await end('first');
      const fetchedAt = now();
      step(HOUR);
      await begin('second');
      await offer('second', page(1, now()));
      expect(await work('second')).toEqual([{ ...FACTS, etag: '"1"', claimed, fetchedAt }]);
    });

    test('a cancelled page that was crawled before keeps its mark and loses its claim', async () => {
      const { crawl, begin, offer, step, now, frontier, runs } = await setup();
      await crawl(page(1));
      step(HOUR);
      await begin('second');
      await offer('second', page(1, now()));
      const [task] = (await frontier.release(ROOM)).tasks;
      const release = task?.release ?? 0;
      await frontier.admit('second', release, 'w');
      expect(await frontier.claim('second', release, markOfPage(2))).toBe('claimed');
      await frontier.settle('second', release, { outcome: { kind: 'defer' } });
      await runs.cancel('second');
      await frontier.drain();
      await begin('third', { incremental: false });
      expect(await offer('third', page(1), page(2))).toEqual({ accepted: 1, known: 1 });
    });

    test('a URL that one run has in work is a duplicate for every other run', async () => {
      const { crawl, begin, offer, work, step, now } = await setup();
      await crawl(page(1));
      step(HOUR);
      await begin('a', { recrawlAfterMs: 1 });
      await begin('b', { recrawlAfterMs: 1 });
      expect(await offer('a', page(1))).toEqual(TAKEN);
      expect(await offer('b', page(1, now()))).toEqual(KNOWN);
      await work('a');
      step(HOUR);
      expect(await offer('b', page(1))).toEqual(TAKEN);
    });

    test('a URL marked by a plain run is due by age alone, and only after that run has ended', async () => {
      const { begin, offer, work, end, now } = await setup();
      await begin('plain', { incremental: false });
      await offer('plain', page(1));
      await begin('own-marks', { dedup: 'run', incremental: false });
      await begin('changes');
      expect(await offer('changes', page(1, now() + HOUR))).toEqual(KNOWN);
      await end('changes');
      await begin('ages', { recrawlAfterMs: HOUR });
      expect(await offer('ages', page(1))).toEqual(KNOWN);
      await work('plain', { outcome: { kind: 'done' } });
      await end('plain');
      expect(await offer('ages', page(1))).toEqual(TAKEN);
    });

    test('a page that a run has taken for its group is due to others once that run has ended, whichever are open', async () => {
      const { crawl, begin, offer, work, end, step } = await setup();
      await crawl(page(1));
      await begin('replay', { incremental: false });
      expect(await offer('replay', { ...page(1), replayOf: 'group' } as Offer)).toEqual(TAKEN);
      await begin('other', { incremental: false });
      await begin('ages', { recrawlAfterMs: HOUR });
      step(HOUR);
      expect(await offer('ages', page(1))).toEqual(KNOWN);
      await work('replay', { outcome: { kind: 'done' } });
      await end('replay');
      expect(await offer('ages', page(1))).toEqual(TAKEN);
    });

    test('a plain run does not take marked URLs again and remembers nothing of its pages', async () => {
      const { begin, offer, work, end, step, now } = await setup();
      await begin('plain', { incremental: false });
      await offer('plain', page(1));
      await work('plain', { outcome: { kind: 'done' } });
      await end('plain');
      step(HOUR);
      await begin('again', { incremental: false });
      expect(await offer('again', page(1, now()))).toEqual(KNOWN);
      await end('again');
      await begin('incremental', { dedup: 'run' });
      expect(await offer('incremental', page(1))).toEqual(TAKEN);
      expect(await work('incremental')).toEqual([undefined]);
    });

    test('an incremental run with its own marks takes every page; with `recrawlAfterMs`, known pages only when due', async () => {
      const { begin, offer, work, end, step, now } = await setup();
      await begin('first', { dedup: 'run' });
      await offer('first', page(1), page(2), page(3));
      await work('first');
      await end('first');
      step(HOUR);
      await begin('all', { dedup: 'run' });
      expect(await offer('all', page(1), page(2, 1), page(4))).toEqual({ accepted: 3, known: 0 });
      await begin('due', { dedup: 'run', recrawlAfterMs: 2 * HOUR });
      expect(await offer('due', page(1), page(2, now()), page(4), page(4))).toEqual({ accepted: 2, known: 2 });
      step(HOUR);
      expect(await offer('due', page(1))).toEqual(TAKEN);
    });

    test('a page that failed is taken by the next run, with the facts of its last good fetch', async () => {
      const { crawl, begin, offer, work, end, step, now } = await setup();
      await crawl(page(1));
      const fetchedAt = now();
      step(HOUR);
      await begin('second');
      await offer('second', page(1, now()));
      await work('second', { outcome: { kind: 'failed', reason: 'timeout' } });
      expect(await offer('second', page(1, now()))).toEqual(KNOWN);
      await end('second');
      await begin('third');
      expect(await offer('third', page(1))).toEqual(TAKEN);
      expect(await work('third')).toEqual([{ ...FACTS, etag: '"1"', fetchedAt }]);
    });

    test('a cancelled page that was crawled before keeps its mark, and the next incremental run takes it again', async () => {
      const { crawl, begin, offer, step, now, runs, frontier } = await setup();
      await crawl(page(1));
      step(HOUR);
      await begin('second');
      await offer('second', page(1, now()), page(2));
      await runs.cancel('second');
      expect(await frontier.drain()).toBe(2);
      await begin('plain', { incremental: false });
      expect(await offer('plain', page(1), page(2))).toEqual({ accepted: 1, known: 1 });
      await begin('third');
      expect(await offer('third', page(1, now()))).toEqual(TAKEN);
    });

    test('the bytes saved by a page that has not changed are counted once', async () => {
      const { begin, offer, frontier, runs } = await setup();
      await begin('r');
      await offer('r', page(1));
      await frontier.release(ROOM);
      const settlement: Settlement = {
        outcome: { kind: 'skipped', reason: 'not_modified' },
        page: { ...VISITED, bytesSaved: 1_000 },
      };
      expect(await frontier.settle('r', 1, settlement)).toBe('settled');
      expect(await frontier.settle('r', 1, settlement)).toBe('already');
      expect(await runs.progress('r')).toMatchObject({ skipped: 1, bytes: 0, bytesSaved: 1_000 });
    });

    test('a page settled as a retry is not remembered', async () => {
      const { begin, offer, work, step } = await setup();
      await begin('r');
      await offer('r', page(1));
      await work('r', { outcome: { kind: 'retry', reason: 'timeout', inMs: 1_000 }, page: VISITED });
      step(1_000);
      expect(await work('r')).toEqual([undefined]);
    });

    test('forgetting a mark also forgets the facts of its page', async () => {
      const { crawl, begin, offer, work, end, step, marks, now } = await setup();
      await crawl(page(1), page(2));
      step(HOUR);
      await marks.forget({ mark: 'http://a.test/1' });
      await begin('second');
      expect(await offer('second', page(1), page(2))).toEqual({ accepted: 1, known: 1 });
      expect(await work('second')).toEqual([undefined]);
      await end('second');
      await marks.forget('all');
      await begin('third');
      expect(await offer('third', page(1, now()), page(2))).toEqual({ accepted: 2, known: 0 });
      expect(await work('third')).toEqual([undefined, undefined]);
    });
  });
}
