import { describe, expect, onTestFinished, test } from 'vitest';
import { FAILURES_KEPT_MS, type RobotsStore, WAY_KEPT_MS } from '../../../shared/ports/robots-store.ts';
import { HOUR_MS } from '../../../shared/task/durations.ts';
import { ALLOW_ALL, type RobotsRules } from '../../../shared/task/robots/robots-match.ts';

/** A store under test, whose contents the test can age. */
export interface OpenedRobotsStore {
  readonly store: RobotsStore;
  step(ms: number): Promise<void>;
  close(): Promise<void>;
}

const ORIGIN = 'https://a.test';
const OTHERS = ['http://a.test', 'https://a.test:8443', 'https://b.test'];

/** The contract of every store of robots.txt. */
export function describeRobotsStore(name: string, open: () => Promise<OpenedRobotsStore>): void {
  describe(`robots store: ${name}`, () => {
    async function setup(): Promise<OpenedRobotsStore> {
      const opened = await open();
      onTestFinished(() => opened.close());
      return opened;
    }

    test.each<[string, RobotsRules]>([
      ['that forbid and allow', { allow: ['/a/b*', '/c$'], disallow: ['/a', '/'], crawlDelayMs: 1_500 }],
      ['that name our crawler', { allow: [], disallow: ['/a'], isOurs: true }],
      ['without a delay', { allow: [], disallow: ['/*?"quoted"%20\\'] }],
      ['that allow everything', ALLOW_ALL],
    ])('rules %s are found unchanged, and only for their own origin', async (_, rules) => {
      const { store } = await setup();
      await store.keep(ORIGIN, rules, HOUR_MS);
      expect(await store.find(ORIGIN)).toEqual(rules);
      for (const other of OTHERS) expect(await store.find(other)).toBeUndefined();
    });

    test('rules are found until they expire, and new ones replace them', async () => {
      const { store, step } = await setup();
      await store.keep(ORIGIN, { allow: [], disallow: ['/old'] }, HOUR_MS);
      await store.keep(ORIGIN, { allow: [], disallow: ['/new'] }, HOUR_MS);
      await step(HOUR_MS - 5_000);
      expect(await store.find(ORIGIN)).toEqual({ allow: [], disallow: ['/new'] });
      await step(5_000);
      expect(await store.find(ORIGIN)).toBeUndefined();
    });

    test('one asker at a time gets the lock of an origin; other origins have their own', async () => {
      const { store } = await setup();
      const locks = await Promise.all(Array.from({ length: 10 }, () => store.lock(ORIGIN, HOUR_MS)));
      expect(locks.filter((locked) => locked)).toEqual([true]);
      for (const other of OTHERS) expect(await store.lock(other, HOUR_MS)).toBe(true);
    });

    test('a lock is free again once it is unlocked or has expired', async () => {
      const { store, step } = await setup();
      await store.lock(ORIGIN, HOUR_MS);
      await store.unlock(ORIGIN);
      expect(await store.lock(ORIGIN, HOUR_MS)).toBe(true);
      await step(HOUR_MS);
      expect(await store.lock(ORIGIN, HOUR_MS)).toBe(true);
      await store.unlock('https://nobody.test');
    });

    test('failures in a row are counted per origin; keeping rules resets the count', async () => {
      const { store } = await setup();
      expect([await store.fail(ORIGIN), await store.fail(ORIGIN)]).toEqual([1, 2]);
      expect(await store.fail('https://b.test')).toBe(1);
      await store.keep(ORIGIN, ALLOW_ALL, HOUR_MS);
      expect(await store.fail(ORIGIN), 'it was had in between').toBe(1);
    });

    test('how far a robots.txt request has come is found by its origin until it succeeds, fails or expires', async () => {
      const { store, step } = await setup();
      const way = { redirects: ['https://b.test/robots.txt', 'https://b.test/"2"'], waits: 3 };
      expect(await store.way(ORIGIN)).toBeUndefined();
      await store.keepWay(ORIGIN, { ...way, waits: 2 });
      await store.keepWay(ORIGIN, way);
      expect(await store.way(ORIGIN)).toEqual(way);
      for (const other of OTHERS) expect(await store.way(other)).toBeUndefined();
      await store.keep(ORIGIN, ALLOW_ALL, HOUR_MS);
      expect(await store.way(ORIGIN), 'it was had').toBeUndefined();
      await store.keepWay(ORIGIN, way);
      await store.fail(ORIGIN);
      expect(await store.way(ORIGIN), 'it could not be had').toBeUndefined();
      await store.keepWay(ORIGIN, way);
      await step(WAY_KEPT_MS);
      expect(await store.way(ORIGIN)).toBeUndefined();
    });

    test('failures are forgotten a while after the last one', async () => {
      const { store, step } = await setup();
      await store.fail(ORIGIN);
      await step(FAILURES_KEPT_MS - 5_000);
      expect(await store.fail(ORIGIN)).toBe(2);
      await step(FAILURES_KEPT_MS - 5_000);
      expect(await store.fail(ORIGIN)).toBe(3);
      await step(FAILURES_KEPT_MS);
      expect(await store.fail(ORIGIN)).toBe(1);
    });
  });
}
