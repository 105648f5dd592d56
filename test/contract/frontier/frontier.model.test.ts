import fc from 'fast-check';
import { afterAll, describe, inject, test } from 'vitest';
import { SteppedClock } from '../../support/stores/stepped-clock.ts';
import { openSqliteStore, redisStores, type Store } from '../../support/stores/stores.ts';
import { commands } from './model/histories.ts';
import { GIVE_UP_MS, Model } from './model/model.ts';
import { World } from './model/world.ts';

/** `MODEL_RUNS=5000 npm test` looks longer; `MODEL_SEED` repeats what a failure printed. */
const RUNS = Number(process.env.MODEL_RUNS ?? 300);
const TIMEOUT_MS = 600_000 + RUNS * 1_000;
const SEED = process.env.MODEL_SEED;
const POLICY = { giveUpMs: GIVE_UP_MS };

describe('the frontier follows its model', () => {
  const redis = redisStores(inject('redisUrl'));
  const compact = redisStores(inject('redisUrl'), 'compact');
  afterAll(async () => {
    await redis.close();
    await compact.close();
  });

  async function follow(open: () => Promise<Store[]>, runs: number, most: number): Promise<void> {
    await fc.assert(
      fc.asyncProperty(commands(most), async (sequence) => {
        const world = new World(open);
        try {
          await world.begin();
          await fc.asyncModelRun(() => ({ model: new Model(new SteppedClock().now()), real: world }), sequence);
        } finally {
          await world.close();
        }
      }),
      { numRuns: runs, ...(SEED === undefined ? {} : { seed: Number(SEED) }) },
    );
  }

  test(`in SQLite, ${RUNS * 3} random histories`, { timeout: TIMEOUT_MS }, async () => {
    await follow(async () => [await openSqliteStore(POLICY)], RUNS * 3, 120);
  });

  test(`in SQLite and in Redis alike, with exact and with compact marks, ${RUNS} random histories`, {
    timeout: 3_600_000,
  }, async () => {
    await follow(
      async () => [await openSqliteStore(POLICY), await redis.open(POLICY), await compact.open(POLICY)],
      RUNS,
      120,
    );
  });
});
