import { afterAll, describe, expect, test } from 'vitest';
import type { ReleaseName } from '../../../../shared/ports/frontier/frontier.ts';
import { MISSING_GAP_MS } from '../../../../shared/ports/frontier/missing-steps.ts';
import type { TaskOffer } from '../../../../shared/task/task/offer.ts';
import type { OpenStore, Store } from '../../../support/stores/stores.ts';
import { page, ROOM, setupOf } from './frontier-setup.ts';

const HALF_AN_HOUR_MS = 1_800_000;

/** The promises of every frontier about steps that no worker has. */
export function describeMissingSteps(name: string, open: OpenStore, close: () => Promise<void> = async () => {}): void {
  describe(`missing steps: ${name}`, () => {
    afterAll(close);
    const setup = setupOf(open);

    /** Offers a task of a step and releases it. */
    async function taskOf({ port }: Store, step: string, n: number): Promise<ReleaseName> {
      const offer = page(n) as TaskOffer;
      await port.offer('r', [{ ...offer, step, mark: step === '' ? offer.mark : `${step} ${offer.mark}` }]);
      const { tasks } = await port.release(ROOM);
      const [released] = tasks;
      if (released === undefined) throw new Error(`nothing was released of step "${step}"`);
      return { release: released.release, mark: released.task.mark };
    }

    test('the time a step is missing counts from its first refusal, per step, and comes with the task’s state', async () => {
      const store = await setup();
      const { port, step } = store;
      const [first, detail] = [await taskOf(store, '', 1), await taskOf(store, 'detail', 2)];
      const state = { attempts: 0, starts: 0, throttles: 0, firstSeen: store.now() };
      expect(await port.missing('r', first)).toEqual({ forMs: 0, state });
      step(HALF_AN_HOUR_MS);
      expect(await port.missing('r', first)).toEqual({ forMs: HALF_AN_HOUR_MS, state });
      expect(await port.missing('r', detail)).toMatchObject({ forMs: 0 });
      step(HALF_AN_HOUR_MS);
      expect(await port.missing('r', first)).toMatchObject({ forMs: 2 * HALF_AN_HOUR_MS });
      expect(await port.missing('r', detail)).toMatchObject({ forMs: HALF_AN_HOUR_MS });
    });

    test('admitting any task of a step resets the time that step is missing, and no other step’s', async () => {
      const store = await setup();
      const { port, step } = store;
      const [first, detail, other] = [
        await taskOf(store, '', 1),
        await taskOf(store, 'detail', 2),
        await taskOf(store, 'detail', 3),
      ];
      await port.missing('r', first);
      await port.missing('r', detail);
      step(HALF_AN_HOUR_MS);
      expect(await port.admit('r', other, 'w')).toMatchObject({ verdict: 'work' });
      expect(await port.missing('r', detail)).toMatchObject({ forMs: 0 });
      expect(await port.missing('r', first)).toMatchObject({ forMs: HALF_AN_HOUR_MS });
    });

    test('more than an hour without a refusal resets the time a step is missing', async () => {
      const store = await setup();
      const first = await taskOf(store, '', 1);
      await store.port.missing('r', first);
      store.step(MISSING_GAP_MS);
      expect(await store.port.missing('r', first)).toMatchObject({ forMs: MISSING_GAP_MS });
      store.step(MISSING_GAP_MS + 1);
      expect(await store.port.missing('r', first)).toMatchObject({ forMs: 0 });
    });

    test('a release that is not in the ledger returns nothing and starts no time', async () => {
      const store = await setup();
      const { release, mark } = await taskOf(store, 'detail', 1);
      for (const stale of [
        { release: release + 1, mark },
        { release, mark: 'http://b.test/' },
      ])
        expect(await store.port.missing('r', stale)).toBeUndefined();
      expect(await store.port.missing('unknown', { release, mark })).toBeUndefined();
      store.step(HALF_AN_HOUR_MS);
      expect(await store.port.missing('r', { release, mark })).toMatchObject({ forMs: 0 });
    });
  });
}
