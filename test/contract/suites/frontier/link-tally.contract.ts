import { afterAll, describe, expect, test } from 'vitest';
import type { LinkTally, Settlement } from '../../../../shared/ports/frontier/frontier.ts';
import { INITIAL_FIELDS } from '../../../../shared/task/task/form.ts';
import type { Task } from '../../../../shared/task/task/task.ts';
import type { OpenStore, Store } from '../../../support/stores/stores.ts';
import { page, pages, ROOM, releases, setupOf, urls } from './frontier-setup.ts';

const DONE: Settlement = { outcome: { kind: 'done' }, hostAnswered: true };

function tally(links: number, stamp = 'first'): LinkTally {
  return { stamp, links };
}

/** The promises of every frontier about pages whose links it may have lost. */
export function describeLinkTallies(name: string, open: OpenStore, close: () => Promise<void> = async () => {}): void {
  describe(`links of a page: ${name}`, () => {
    afterAll(close);

    const setupRun = setupOf(open);

    /** Opens a run whose only page is in a worker's hands, as release 1. */
    async function setup(): Promise<Store> {
      const store = await setupRun();
      await store.frontier.offer('r', [page('list')]);
      await store.frontier.release(ROOM);
      await store.frontier.admit('r', 1, 'w');
      return store;
    }

    test('a page whose links have all arrived is done; an offer sent twice counts once', async () => {
      const { frontier, runs } = await setup();
      expect(await frontier.offer('r', pages(1, 3), { parent: 1 })).toEqual({ accepted: 3, known: 0 });
      expect(await frontier.offer('r', pages(1, 3), { parent: 1 })).toEqual({ accepted: 0, known: 3 });
      expect(await frontier.offer('r', pages(4, 5), { parent: 1, tally: tally(3) })).toMatchObject({ accepted: 2 });
      expect(await frontier.offer('r', pages(4, 5), { parent: 1, tally: tally(3) })).toMatchObject({ known: 2 });
      expect(await frontier.settle('r', 1, { ...DONE, tally: tally(5) })).toBe('settled');
      expect(await runs.progress('r')).toMatchObject({ done: 1, waiting: 5, inFlight: 0 });
    });

    test.each([
      ['of which none arrived', []],
      ['of which some are missing', [pages(1, 2)]],
      ['of which some are missing and others arrived twice', [pages(1, 2), pages(1, 2)]],
    ] as const)('a page with links %s is put back when it settles as done, and costs no attempt', async (_, offers) => {
      const { frontier, runs } = await setup();
      for (const some of offers) await frontier.offer('r', some, { parent: 1 });
      const leftOut = { depth: 1, scope: 2, condition: 3 };
      expect(await frontier.settle('r', 1, { ...DONE, bytes: 10, leftOut, tally: tally(4) })).toBe('put_back');
      expect(await frontier.settle('r', 1, { ...DONE, tally: tally(4) }), 'told again').toBe('already');
      const { waiting, inFlight, ...progress } = (await runs.progress('r')) ?? {};
      expect(progress).toMatchObject({ done: 0, bytes: 10, discovered: (waiting ?? 0) + (inFlight ?? 0) });
      const { tasks } = await frontier.release({ ...ROOM, limit: 1 });
      expect(tasks, 'at the head of its list').toMatchObject([
        { task: { url: 'http://a.test/list' }, state: { attempts: 0, starts: 0 } },
      ]);
      await frontier.admit('r', 2, 'w');
      await frontier.offer('r', pages(1, 4), { parent: 2, tally: tally(0, 'second') });
      const again = { depth: 0, scope: 0, condition: 3 };
      expect(await frontier.settle('r', 2, { ...DONE, leftOut: again, tally: tally(4, 'second') })).toBe('settled');
      expect(await runs.progress('r')).toMatchObject({ done: 1, waiting: 4, leftOut });
    });

    test.each([1, 3])(
      'an offer whose predecessor of %i links was lost is refused as a whole, and its page waits again',
      async (lost) => {
        const { frontier, runs } = await setup();
        const offered = frontier.offer('r', pages(4, 5), { parent: 1, tally: tally(lost) });
        expect(await offered).toEqual({ refused: 'parent' });
        expect(await frontier.offer('r', pages(4, 5), { parent: 1, tally: tally(lost) }), 'sent again').toEqual({
          refused: 'parent',
        });
        expect(await runs.progress('r')).toMatchObject({ discovered: 1, waiting: 1, inFlight: 0 });
        expect((await frontier.release(ROOM)).tasks).toMatchObject([{ release: 2, state: { attempts: 0, starts: 0 } }]);
      },
    );

    test('a page that was taken over is judged by the links of the worker that settles it', async () => {
      const { frontier } = await setup();
      await frontier.offer('r', pages(1, 3), { parent: 1 });
      await frontier.admit('r', 1, 'w-2');
      expect(await frontier.settle('r', 1, { ...DONE, tally: tally(3) }), 'the admission keeps what it finds').toBe(
        'settled',
      );
      expect(releases(await frontier.release({ ...ROOM, limit: 1 }))).toEqual([2]);
      await frontier.admit('r', 2, 'w-1');
      await frontier.offer('r', pages(4, 8), { parent: 2, tally: tally(0, 'a') });
      await frontier.admit('r', 2, 'w-2');
      await frontier.offer('r', pages(4, 5), { parent: 2, tally: tally(0, 'b') });
      expect(await frontier.settle('r', 2, { ...DONE, tally: tally(5, 'a') })).toBe('put_back');
    });

    test.each(['publishing', 'queued', 'handed'] as const)(
      'an offer counts for a page still %s, as its admission may have been lost',
      async (phase) => {
        const { frontier, biographer, runs } = await setupRun();
        await frontier.offer('r', [page('list')]);
        await frontier.release(ROOM);
        await frontier.offer('r', pages(1, 3), { parent: 1 });
        if (phase === 'queued') await frontier.queued('r', [1]);
        if (phase === 'handed') await frontier.handed('r', [1]);
        const trace = await biographer.trace('r', { mark: 'http://a.test/list', host: 'a.test' });
        expect(trace?.place?.at).toBe(phase === 'handed' ? 'working' : phase);
        await frontier.admit('r', 1, 'w');
        expect(await frontier.settle('r', 1, { ...DONE, tally: tally(3) })).toBe('settled');
        expect(await runs.progress('r')).toMatchObject({ done: 1, waiting: 3 });
      },
    );

    test('a queued page that has offered links waits again after a broker wipe, like any other', async () => {
      const { frontier } = await setupRun();
      await frontier.offer('r', [page('list')]);
      await frontier.release(ROOM);
      await frontier.queued('r', [1]);
      await frontier.offer('r', [page(1)], { parent: 1 });
      expect(await frontier.endQueued('r')).toMatchObject({ ended: 1 });
      expect(urls(await frontier.release(ROOM))).toEqual(['a.test/list', 'a.test/1']);
    });

    test('a trace names the worker of a page that has offered links', async () => {
      const { frontier, biographer, step } = await setup();
      await frontier.offer('r', pages(1, 3), { parent: 1 });
      step(3_000);
      const trace = await biographer.trace('r', { mark: 'http://a.test/list', host: 'a.test' });
      expect(trace?.place).toMatchObject({ at: 'working', worker: 'w', forMs: 3_000 });
    });

    test('a page that has offered no links is done, whether its tally says so or is left out', async () => {
      const { frontier } = await setup();
      expect(await frontier.settle('r', 1, { ...DONE, tally: tally(0) })).toBe('settled');
    });

    test('a page that settles without a tally is done, and a skipped or failed one ends whatever its tally', async () => {
      const { frontier, runs } = await setup();
      await frontier.offer('r', pages(1, 2), { parent: 1 });
      await frontier.admit('r', 1, 'w-2');
      expect(await frontier.settle('r', 1, DONE)).toBe('settled');
      await frontier.release(ROOM);
      const named = { tally: tally(7) };
      const skipped = { kind: 'skipped', reason: 'content_type' } as const;
      expect(await frontier.settle('r', 2, { outcome: skipped, ...named })).toBe('settled');
      const failed = { kind: 'failed', reason: 'schema' } as const;
      expect(await frontier.settle('r', 3, { outcome: failed, ...named })).toBe('settled');
      expect(await runs.progress('r')).toMatchObject({ done: 1, skipped: 1, failed: 1 });
    });

    test('links refused by a cancelled run do not make a page incomplete; a page put back counts as cancelled', async () => {
      const { frontier, runs } = await setup();
      await frontier.offer('r', pages(1, 3), { parent: 1 });
      await frontier.offer('r', [page('other')]);
      await frontier.release(ROOM);
      await runs.cancel('r');
      const refused = frontier.offer('r', pages(4, 6), { parent: 1, tally: tally(3) });
      expect(await refused).toEqual({ refused: 'run' });
      expect(await frontier.settle('r', 1, { ...DONE, tally: tally(3) })).toBe('settled');
      expect(await frontier.settle('r', 2, { ...DONE, tally: tally(3) })).toBe('put_back');
      expect(await runs.progress('r')).toMatchObject({ done: 1, cancelled: 1, inFlight: 3 });
    });

    test('a page put back for missing links keeps its redirects, its new host and its claim', async () => {
      const { frontier } = await setup();
      expect(await frontier.claim('r', 1, 'http://b.test/list')).toBe('claimed');
      const redirects = ['http://b.test/list'];
      const [url, host] = ['http://a.test/list', 'b.test'];
      const moved: Task = { run: 'r', url, mark: url, host, step: '', queue: 'normal', ...INITIAL_FIELDS, redirects };
      expect(await frontier.settle('r', 1, { ...DONE, moved, tally: tally(1) })).toBe('put_back');
      const { tasks } = await frontier.release(ROOM);
      expect(tasks).toMatchObject([{ release: 2, task: { host: 'b.test', redirects } }]);
      expect(await frontier.claim('r', 2, 'http://b.test/list')).toBe('claimed');
    });
  });
}
