import fc from 'fast-check';
import { afterAll, describe, inject, test } from 'vitest';
import { SteppedClock } from '../../support/stores/stepped-clock.ts';
import { openSqliteStore, redisStores, type Store } from '../../support/stores/stores.ts';
import { commands, losses, OPENED } from './model/histories.ts';
import { GIVE_UP_MS, Model } from './model/model.ts';
import { type Command, World } from './model/world.ts';

/** `MODEL_RUNS=5000 npm test` searches longer. `MODEL_SEED` repeats the seed that a failure printed. */
const RUNS = Number(process.env.MODEL_RUNS ?? 100);
const TIMEOUT_MS = 600_000 + RUNS * 1_000;
const LOSSES = Math.ceil(RUNS / 3);
const SEED = process.env.MODEL_SEED;
const POLICY = { giveUpMs: GIVE_UP_MS };

describe('the frontier follows its model', () => {
  const redis = redisStores(inject('redisUrl'));
  const compact = redisStores(inject('redisUrl'), 'compact');
  afterAll(async () => {
    await redis.close();
    await compact.close();
  });

  async function follow(
    open: () => Promise<Store[]>,
    runs: number,
    histories = commands(120),
    beginning: readonly Command[] = [],
  ): Promise<void> {
    await fc.assert(
      fc.asyncProperty(histories, async (sequence) => {
        const world = new World(open);
        try {
          await world.begin();
          const model = new Model(new SteppedClock().now());
          for (const command of beginning) await command.run(model, world);
          await fc.asyncModelRun(() => ({ model, real: world }), sequence);
        } finally {
          await world.close();
        }
      }),
      { numRuns: runs, ...(SEED === undefined ? {} : { seed: Number(SEED) }) },
    );
  }

  test(`in SQLite, ${RUNS * 3} random histories`, { timeout: TIMEOUT_MS }, async () => {
    await follow(async () => [await openSqliteStore(POLICY)], RUNS * 3, commands(120, { forgets: true }));
  });

  test(`in SQLite and in Redis alike, with exact and with compact marks, ${RUNS} random histories`, {
    timeout: 3_600_000,
  }, async () => {
    await follow(
      async () => [await openSqliteStore(POLICY), await redis.open(POLICY), await compact.open(POLICY)],
      RUNS,
    );
  });

  test(`in SQLite and in Redis alike, ${LOSSES} random histories in which marks are forgotten`, {
    timeout: TIMEOUT_MS,
  }, async () => {
    const forgetting = commands(120, { forgets: true });
    await follow(async () => [await openSqliteStore(POLICY), await redis.open(POLICY)], LOSSES, forgetting);
  });

  test(`in SQLite and in Redis alike, ${LOSSES} random histories of losses`, { timeout: TIMEOUT_MS }, async () => {
    await follow(async () => [await openSqliteStore(POLICY), await redis.open(POLICY)], LOSSES, losses(60), OPENED);
  });
});
