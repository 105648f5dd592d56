import fc from 'fast-check';
import { afterAll, describe, inject, test } from 'vitest';
import { openSqliteStore, redisStores, type Store } from '../../support/stores/stores.ts';
import { events } from './group-model/events.ts';
import { History } from './group-model/history.ts';
import { plans } from './group-model/plans.ts';

/** `MODEL_RUNS=5000 npm test` searches longer. `MODEL_SEED` repeats the seed that a failure printed. */
const RUNS = Number(process.env.MODEL_RUNS ?? 100);
const TIMEOUT_MS = 600_000 + RUNS * 1_000;
const SEED = process.env.MODEL_SEED;

describe('groups and joins follow their model', () => {
  const redis = redisStores(inject('redisUrl'));
  afterAll(() => redis.close());

  async function follow(open: () => Promise<Store[]>, runs: number): Promise<void> {
    await fc.assert(
      fc.asyncProperty(plans, events, async (plan, all) => {
        const history = new History(open, plan);
        try {
          await history.begin();
          for (const event of all) await history.run(event);
        } finally {
          await history.close();
        }
      }),
      { numRuns: runs, ...(SEED === undefined ? {} : { seed: Number(SEED) }) },
    );
  }

  test(`in SQLite, ${RUNS * 3} random histories`, { timeout: TIMEOUT_MS }, async () => {
    await follow(async () => [await openSqliteStore()], RUNS * 3);
  });

  test(`in SQLite and in Redis alike, ${RUNS} random histories`, { timeout: TIMEOUT_MS }, async () => {
    await follow(async () => [await openSqliteStore(), await redis.open()], RUNS);
  });
});
