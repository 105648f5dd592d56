import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import type { PageVisit, Settlement } from '../../../../shared/ports/frontier/frontier.ts';
import type { RunOptions } from '../../../../shared/ports/runs.ts';
import type { OpenStore } from '../../../support/stores/stores.ts';
import { OPTIONS, page, ROOM } from './frontier-setup.ts';

const TAKEN = { accepted: 1, known: 0 };
const KNOWN = { accepted: 0, known: 1 };
const VISITED: PageVisit = { contentHash: 'h1', bytes: 1_000, readAs: 'page', askedMsAgo: 0, bytesSaved: 0 };
const DONE: Settlement = { outcome: { kind: 'done' }, page: VISITED };
const FAILED: Settlement = { outcome: { kind: 'failed', reason: 'http_4xx' } };

/** The promises of every frontier about pages that incremental runs take again: at most one run has each in work. */
export function describeRetakenPages(name: string, open: OpenStore, close: () => Promise<void> = async () => {}): void {
  describe(`pages taken again: ${name}`, () => {
    afterAll(close);

    async function setup() {
      const store = await open();
      onTestFinished(() => store.close());
      const { frontier, runs, step } = store;
      const begin = (run: string, options: Partial<RunOptions> = {}) =>
        runs.open(run, { ...OPTIONS, incremental: true, recrawlAfterMs: 1, ...options }, 'p');
      /** Settles all tasks of a run that are due. */
      const work = async (run: string, settlement = DONE): Promise<void> => {
        for (const { release } of (await frontier.release(ROOM)).tasks) await frontier.settle(run, release, settlement);
      };
      /** A complete earlier run over pages 1 and 2. */
      const crawl = async (options: Partial<RunOptions> = {}, settlement = DONE): Promise<void> => {
        await begin('first', options);
        await frontier.offer('first', [page(1), page(2)]);
        await work('first', settlement);
        await runs.seal('first', 'p');
        step(1_000);
      };
      return { ...store, begin, work, crawl };
    }

    test('a page that failed in one run and is in work in another is a duplicate for a third, though the first has ended', async () => {
      const { frontier, runs, begin, work, crawl } = await setup();
      await crawl();
      await begin('failing');
      expect(await frontier.offer('failing', [page(1)])).toEqual(TAKEN);
      await work('failing', FAILED);
      await begin('working');
      expect(await frontier.offer('working', [page(1)])).toEqual(TAKEN);
      await runs.seal('failing', 'p');
      await begin('third');
      expect(await frontier.offer('third', [page(1)])).toEqual(KNOWN);
    });

    test('a page that was drained from a cancelled run is due at once, while its tasks in flight keep their pages', async () => {
      const { frontier, runs, begin, crawl } = await setup();
      await crawl();
      await begin('cancelled');
      await frontier.offer('cancelled', [page(1), page(2)]);
      await frontier.release({ ...ROOM, limit: 1 });
      await runs.cancel('cancelled');
      expect(await frontier.drain()).toBe(1);
      await begin('next');
      expect(await frontier.offer('next', [page(1), page(2)])).toEqual({ accepted: 1, known: 1 });
      expect((await frontier.release(ROOM)).tasks.map(({ task }) => task.url)).toEqual(['http://a.test/2']);
    });

    test('a URL that a plain run has marked is never due in a run that goes by changes alone', async () => {
      const { frontier, now, begin, crawl } = await setup();
      await crawl({ incremental: false }, { outcome: { kind: 'done' } });
      await begin('next', { recrawlAfterMs: 0 });
      expect(await frontier.offer('next', [page(1), { ...page(2), changedAt: now() }])).toEqual({
        accepted: 0,
        known: 2,
      });
    });
  });
}
