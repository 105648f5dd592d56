import { afterAll, describe, expect, test } from 'vitest';
import { MOST_STEP_FAILURES } from '../../../../shared/ports/runs.ts';
import type { Outcome } from '../../../../shared/task/task/outcome.ts';
import type { OpenStore } from '../../../support/stores/stores.ts';
import { pages, ROOM, setupOf } from './frontier-setup.ts';

const NOTE = { at: 1, worker: 'w', reason: 'step' };
const FAILED: Outcome = { kind: 'failed', reason: 'step' };

/** The promises of every store about pages whose step failed: they are counted by their place in the crawler's code. */
export function describeStepFailures(name: string, open: OpenStore, close: () => Promise<void> = async () => {}): void {
  describe(`step failures: ${name}`, () => {
    afterAll(close);
    const setup = setupOf(open);

    test('failed pages are counted by place, with the first error of each place, most pages first', async () => {
      const { frontier, runs } = await setup();
      await frontier.offer('r', pages(1, 6));
      await frontier.release(ROOM);
      const settle = (release: number, place: string | undefined, error: string, outcome = FAILED) =>
        frontier.settle('r', release, {
          outcome,
          attempt: { ...NOTE, error, ...(place === undefined ? {} : { place }) },
        });
      await settle(1, 'a.ts:1, step list', 'a.ts:1: of one page');
      await settle(2, 'a.ts:7, step product', 'a.ts:7: "first"\nof all');
      await settle(3, 'a.ts:7, step product', 'a.ts:7: second');
      await settle(3, 'a.ts:7, step product', 'settled before');
      await settle(4, undefined, 'HTTP 404', { kind: 'failed', reason: 'http_4xx' });
      await settle(5, 'a.ts:9', 'tried again', { kind: 'retry', reason: 'step', inMs: 1_000 });
      expect((await runs.progress('r'))?.stepFailures).toEqual([
        { place: 'a.ts:7, step product', pages: 2, error: 'a.ts:7: "first"\nof all' },
        { place: 'a.ts:1, step list', pages: 1, error: 'a.ts:1: of one page' },
      ]);
    });

    test('a page settles although its error was cut in the middle of an emoji', async () => {
      const { frontier, runs } = await setup();
      await frontier.offer('r', pages(1, 1));
      await frontier.release(ROOM);
      const attempt = { ...NOTE, place: 'a.ts:1', error: 'no price in \ud83d' };
      expect(await frontier.settle('r', 1, { outcome: FAILED, attempt })).toBe('settled');
      expect((await runs.progress('r'))?.stepFailures).toEqual([
        { place: 'a.ts:1', pages: 1, error: 'no price in \ufffd' },
      ]);
    });

    test('a run without step failures reports none, and one with more places than the maximum keeps that many', async () => {
      const { frontier, runs } = await setup();
      await frontier.offer('r', pages(1, 60));
      await frontier.release(ROOM);
      expect(await runs.progress('r')).not.toHaveProperty('stepFailures');
      for (let n = 1; n <= 60; n++)
        await frontier.settle('r', n, { outcome: FAILED, attempt: { ...NOTE, place: `a.ts:${n % 55}`, error: 'no' } });
      const { stepFailures = [], failed } = (await runs.progress('r')) ?? {};
      expect([stepFailures.length, failed]).toEqual([MOST_STEP_FAILURES, 60]);
      expect(stepFailures[0]).toEqual({ place: 'a.ts:1', pages: 2, error: 'no' });
    });
  });
}
