import { afterAll, describe, expect, test } from 'vitest';
import type { Offer } from '../../../../shared/ports/frontier/frontier.ts';
import type { RunOptions } from '../../../../shared/ports/runs.ts';
import { groupOf } from '../../../../shared/task/group/group.ts';
import type { JoinPlan } from '../../../../shared/task/group/plan.ts';
import { markOf } from '../../../../shared/task/url/fingerprint.ts';
import type { OpenStore } from '../../../support/stores/stores.ts';
import { OPTIONS, page, ROOM, setupOf } from './frontier-setup.ts';

const PLAN: JoinPlan = {
  joins: { offer: { per: '', of: ['price'] } },
  groups: { '': { layers: [['offer']], takes: ['price'] } },
  owners: { price: '' },
  run: [],
};
const TAKEN = { accepted: 1, known: 0 };
const KNOWN = { accepted: 0, known: 1 };

function text(malformed: string): Offer {
  return { malformed, problem: 'it is not a valid URL' };
}

/** The promises of every frontier about texts that aren't URLs, such as those in a sitemap or a list. */
export function describeMalformedTexts(
  name: string,
  open: OpenStore,
  close: () => Promise<void> = async () => {},
): void {
  describe(`malformed texts: ${name}`, () => {
    afterAll(close);
    const setup = setupOf(open);

    test.each<[string, Partial<RunOptions>]>([
      ['later runs', {}],
      ['later incremental runs', { incremental: true, recrawlAfterMs: 1 }],
    ])('a malformed text is released so that it can be failed, and stays known to %s', async (_, options) => {
      const { frontier, runs, step } = await setup(options);
      const offer = text('ht!tp:/x\ty');
      await frontier.offer('r', [offer]);
      const { tasks } = await frontier.release(ROOM);
      expect(tasks).toMatchObject([
        { verdict: 'malformed', problem: 'it is not a valid URL', task: { url: 'ht!tp:/x y' } },
      ]);
      await frontier.settle('r', 1, { outcome: { kind: 'failed', reason: 'malformed' } });
      await runs.seal('r', 'p');
      step(1_000);
      await runs.open('next', { ...OPTIONS, ...options }, 'p');
      expect(await frontier.offer('next', [offer])).toEqual(KNOWN);
    });

    test('a malformed text that equals the mark of a step’s page does not make that page known', async () => {
      const { frontier } = await setup();
      const mark = 'product http://h/1';
      const step: Offer = { url: 'http://h/1', host: 'h', queue: 'normal', mark, step: 'product', depth: 1 };
      await frontier.offer('r', [text(mark)]);
      expect(await frontier.offer('r', [step])).toEqual(TAKEN);
      const { tasks } = await frontier.release(ROOM);
      expect(tasks.map(({ verdict, task }) => [verdict, task.url]).toSorted()).toEqual([
        ['go', 'http://h/1'],
        ['malformed', 'product http://h/1'],
      ]);
    });

    test.each<[string, Partial<RunOptions>]>([
      ['a run', {}],
      ['a run with its own marks', { dedup: 'run' }],
      ['a run with joins', { joins: PLAN }],
    ])(
      'in %s, a malformed text that ends like the mark of a group’s member is known by itself alone',
      async (_, options) => {
        const { frontier, runs, step } = await setup(options);
        const offer = text('write to @trawl');
        expect(await frontier.offer('r', [offer])).toEqual(TAKEN);
        expect(await frontier.offer('r', [offer])).toEqual(KNOWN);
        expect(await frontier.offer('r', [offer], { limit: 1 }), 'in a full run, too').toEqual(KNOWN);
        await runs.cancel('r');
        step(1_000);
        await frontier.drain();
        expect(await runs.progress('r')).toMatchObject({ state: 'cancelled', discovered: 1, cancelled: 1 });
        await runs.open('next', { ...OPTIONS, ...options }, 'p');
        expect(await frontier.offer('next', [offer]), 'the mark of a cancelled task is free').toEqual(TAKEN);
      },
    );

    test('a malformed text that equals the mark of a group’s member neither joins nor ends its group', async () => {
      const { frontier, runs, port } = await setup({ joins: PLAN });
      const owner = page(1);
      if (!('mark' in owner)) throw new Error('it has a URL');
      const group = groupOf(owner.mark);
      await frontier.offer('r', [owner]);
      await frontier.release(ROOM);
      const url = 'http://a.test/price';
      const price: Offer = { ...owner, url, step: 'price', mark: markOf(url, 'price', undefined, group) };
      await frontier.offer('r', [price], { parent: 1 });
      expect(await frontier.offer('r', [text(price.mark)])).toEqual(TAKEN);
      const { tasks } = await frontier.release(ROOM);
      const malformed = tasks.find(({ verdict }) => verdict === 'malformed') ?? expect.fail('it is released');
      expect(await port.group('r', group)).toMatchObject({ open: 2 });
      await frontier.fail('r', [malformed.release], 'malformed');
      expect(await port.group('r', group)).toMatchObject({ open: 2 });
      expect((await runs.progress('r'))?.steps).toEqual({
        price: { discovered: 1, done: 0, skipped: 0, failed: 0 },
      });
    });
  });
}
