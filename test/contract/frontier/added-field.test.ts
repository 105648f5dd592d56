import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, expect, inject, onTestFinished, test, vi } from 'vitest';
import { Replayer } from '../../../services/producer/replayer.ts';
import { RunDirectory } from '../../../services/worker/run-directory.ts';
import { defineCrawler } from '../../../shared/crawler/crawler.ts';
import type { AttemptHistory, Claims, Frontier, Ledger } from '../../../shared/ports/frontier/frontier.ts';
import type { Groups } from '../../../shared/ports/frontier/groups.ts';
import type { MissingSteps } from '../../../shared/ports/frontier/missing-steps.ts';
import type { Runs } from '../../../shared/ports/runs.ts';
import { silentLog } from '../../../shared/runtime/logger.ts';
import { RedisFrontier } from '../../../shared/stores/redis/frontier.ts';
import { RedisRuns } from '../../../shared/stores/redis/runs.ts';
import { SqliteFrontier } from '../../../shared/stores/sqlite/frontier.ts';
import { writeMessage } from '../../../shared/task/task/message.ts';
import { idOf } from '../../../shared/task/task/task.ts';
import { FAST_RUN } from '../../support/builders.ts';
import { POLICY } from '../../support/policy.ts';
import { EVERYTHING, offerOf } from '../../support/stores/embedded.ts';
import { crashedFolder, type KeptStore, openKeptStore } from '../../support/stores/kept-store.ts';
import { SteppedClock } from '../../support/stores/stepped-clock.ts';
import { deliveryOf, setup } from '../../unit/services/worker/setup.ts';

// Test files of one process share loaded modules. This file loads them with the field, and unloads them afterwards.
vi.hoisted(() => vi.resetModules());
afterAll(() => {
  vi.doUnmock('../../../shared/task/task/fields.ts');
  vi.resetModules();
});

/** Adds a field that no task has in this version, in the one place where fields are declared. */
vi.mock('../../../shared/task/task/fields.ts', async (importOriginal) => {
  const [{ z }, original] = await Promise.all([import('zod'), importOriginal<{ TASK_FIELDS: object }>()]);
  const extra = { schema: z.object({ price: z.number(), of: z.array(z.string()) }), isInRecord: true };
  return { ...original, TASK_FIELDS: { ...original.TASK_FIELDS, extra } };
});

/** Values that `cjson` would corrupt: an empty list and a number of sixteen digits. */
const EXTRA = { price: 9_007_199_254_740_991, of: [] };

interface Opened {
  readonly frontier: Frontier & AttemptHistory & Claims & Groups & Ledger & MissingSteps;
  readonly runs: Runs;
}
/** Opens a store with an open run `r`. `resumed` opens it as another process would after this one has crashed. */
type Open = () => Promise<Opened & { resumed(): Promise<Opened> }>;

const redis = new Redis(inject('redisUrl'));
afterAll(() => redis.disconnect());

const openRedis: Open = async () => {
  const prefix = `t${randomBytes(6).toString('hex')}:`;
  const clock = new SteppedClock();
  onTestFinished(async () => void (await redis.unlink(...(await redis.keys(`${prefix}*`)))));
  const runs = new RedisRuns({ redis, prefix, marks: 'exact', clock });
  const open = () => new RedisFrontier({ redis, prefix, policy: POLICY, clock });
  await runs.open('r', FAST_RUN, 'p');
  return {
    frontier: open(),
    runs,
    resumed: async () => {
      const frontier = open();
      clock.step(60_000);
      expect(await frontier.reap()).toBe(2);
      return { frontier, runs };
    },
  };
};

const openLocal: Open = async () => {
  const clock = new SteppedClock();
  const first = await openKeptStore({ clock });
  onTestFinished(() => first.close());
  await first.runs.open('r', FAST_RUN, 'p');
  return {
    ...opened(first),
    resumed: async () => {
      const folder = await crashedFolder(first.folder);
      const again = await openKeptStore({ folder, clock, resume: ['r'] });
      onTestFinished(() => again.close());
      return opened(again);
    },
  };
};

function opened({ port, runs }: KeptStore): Opened {
  if (!(port instanceof SqliteFrontier)) throw new Error('a local store has a local frontier');
  return { frontier: port, runs };
}

test.each<[string, Open]>([
  ['Redis', openRedis],
  ['the local store', openLocal],
])(
  'a field added to the table reaches the step, the record, the dead letter and the replay with %s',
  async (_, open) => {
    const seen: unknown[] = [];
    const crawler = defineCrawler({
      name: 'page',
      step: ({ task }: { readonly task: object }) => {
        seen.push('extra' in task && task.extra);
        return {};
      },
    });
    const world = await setup({ crawler });
    const store = await open();
    const offers = ['/page/1', '/status/404'].map((path) => ({ ...offerOf(world.site.url(path)), extra: EXTRA }));
    await store.frontier.offer('r', offers);
    expect((await store.frontier.release(EVERYTHING)).tasks.map(({ task }) => task)).toMatchObject([
      { extra: EXTRA },
      { extra: EXTRA },
    ]);
    const { frontier, runs } = await store.resumed();
    const directory = new RunDirectory({
      runs,
      crawlerNamed: () => ({ crawler, version: '01234567' }),
      defaults: FAST_RUN,
      log: silentLog,
    });
    const pipeline = world.pipeline({ frontier, runs: directory });
    for (const { task, release } of (await frontier.release(EVERYTHING)).tasks)
      expect(await pipeline.handle(deliveryOf(writeMessage(task), { id: idOf(task), release }))).toBe('ack');
    expect(seen).toEqual([EXTRA]);
    expect(world.sink.records.toSorted((a, b) => (a.outcome < b.outcome ? -1 : 1))).toMatchObject([
      { outcome: 'done', extra: EXTRA },
      { outcome: 'failed', extra: EXTRA },
    ]);
    expect(await world.letters()).toMatchObject([{ reason: 'http_4xx', extra: EXTRA }]);

    const { transport: letters, marks, clock } = world;
    const about = { filter: {}, limit: 9, defaults: FAST_RUN, overrides: {}, isDry: false, rules: [] };
    const { signal } = new AbortController();
    await new Replayer({ frontier, runs, marks, letters, clock, signal, ...about }).replay();
    expect((await frontier.release(EVERYTHING)).tasks).toMatchObject([{ task: { run: 'r-replay-1', extra: EXTRA } }]);
  },
);
