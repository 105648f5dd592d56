import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, expect, inject, onTestFinished, test } from 'vitest';
import { nameOf } from '../../../shared/ports/frontier/frontier.ts';
import type { WorkerBeat } from '../../../shared/ports/roster.ts';
import { RedisFrontier } from '../../../shared/stores/redis/frontier.ts';
import { RedisRoster } from '../../../shared/stores/redis/roster.ts';
import { RedisRuns } from '../../../shared/stores/redis/runs.ts';
import { FAST_RUN } from '../../support/builders.ts';
import { POLICY } from '../../support/policy.ts';
import { SteppedClock } from '../../support/stores/stepped-clock.ts';
import { pages, ROOM } from '../suites/frontier/frontier-setup.ts';

const HOUR_MS = 3_600_000;
const IDLE: WorkerBeat = { id: 'w', host: 'm', version: '1', slots: 1, inHand: 0, bound: 'slots', state: 'consuming' };
const redis = new Redis(inject('redisUrl'));
afterAll(() => redis.disconnect());

/** Sets up a fleet of one worker and a run on one host that gives errors. */
async function setup() {
  const prefix = `t${randomBytes(6).toString('hex')}:`;
  onTestFinished(async () => void (await redis.unlink(await redis.keys(`${prefix}*`))));
  const clock = new SteppedClock();
  const options = { redis, prefix, clock };
  const frontier = new RedisFrontier({ ...options, policy: { ...POLICY, giveUpMs: HOUR_MS } });
  const runs = new RedisRuns({ ...options, marks: 'exact' });
  const roster = new RedisRoster(options);
  await runs.open('r', FAST_RUN, 'p');
  await frontier.offer('r', pages(1, 9));
  return {
    clock,
    runs,
    frontier,
    beat: (doing: Partial<WorkerBeat> = {}) => roster.beat({ ...IDLE, ...doing }),
    async fail() {
      const [task] = (await frontier.release({ ...ROOM, limit: 1 })).tasks;
      if (task === undefined) throw new Error('nothing was released');
      await frontier.settle('r', nameOf(task), {
        outcome: { kind: 'defer' },
        hostAnswered: false,
        hostTrouble: { kind: 'answered', reason: 'HTTP 503' },
      });
    },
    verdicts: async () => new Set((await frontier.release(ROOM)).tasks.map(({ verdict }) => verdict)),
    giveUpAt: async () => (await runs.hosts('r', 1))[0]?.trouble?.giveUpAt,
  };
}

test('time in which the fleet was asleep or had no worker does not count towards giving a host up', async () => {
  const { clock, beat, fail, verdicts, giveUpAt } = await setup();
  await beat();
  await fail();
  clock.step(8 * HOUR_MS);
  // The first thing it reports may be that the network isn't back yet.
  await fail();
  await beat();
  expect(await giveUpAt()).toBe(clock.now() + HOUR_MS);
  clock.step(1_000);
  await fail();
  expect(await verdicts()).toEqual(new Set(['go']));
});

test('time in which workers beat counts towards giving a host up', async () => {
  const { clock, beat, fail, verdicts } = await setup();
  await beat();
  await fail();
  for (let minutes = 0; minutes < 60; minutes++) {
    clock.step(60_000);
    await beat();
    if (minutes === 55) await fail();
  }
  expect(await verdicts()).toEqual(new Set(['host_down']));
});

test.each<[string, Partial<WorkerBeat>]>([
  ['gets no deliveries', { state: 'waiting: broker', brokerTrouble: 'disconnected' }],
  ['can publish no messages', { brokerTrouble: 'blocked: low on memory' }],
  ['can store no records', { state: 'waiting: records can’t be stored: disk full' }],
])('time in which the only worker %s does not count towards giving a host up', async (_, doing) => {
  const { clock, beat, fail, verdicts, giveUpAt } = await setup();
  await beat();
  await fail();
  for (let minutes = 0; minutes < 120; minutes++) {
    clock.step(60_000);
    await beat(doing);
  }
  await beat();
  await fail();
  expect(await giveUpAt()).toBe(clock.now() + HOUR_MS);
  clock.step(1_000);
  await fail();
  expect(await verdicts()).toEqual(new Set(['go']));
});

test('time in which at least one worker can work counts towards giving a host up', async () => {
  const { clock, beat, fail, verdicts } = await setup();
  await beat();
  await fail();
  for (let minutes = 0; minutes < 60; minutes++) {
    clock.step(60_000);
    await beat({ id: 'other', state: 'waiting: broker', brokerTrouble: 'disconnected' });
    await beat({ brokerTrouble: 'full' });
    if (minutes === 55) await fail();
  }
  expect(await verdicts()).toEqual(new Set(['host_down']));
});
