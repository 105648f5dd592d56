import { expect, test } from 'vitest';
import { FailureLines } from '../../../../services/worker/failure-lines.ts';
import { RunDirectory } from '../../../../services/worker/run-directory.ts';
import { defineCrawler } from '../../../../shared/crawler/crawler.ts';
import type { Delivery } from '../../../../shared/ports/transport.ts';
import { silentLog } from '../../../../shared/runtime/logger.ts';
import { FAST_RUN } from '../../../support/builders.ts';
import { setup } from './setup.ts';

test('a task fails after six hours without a worker that has its step; a worker that has it restarts the six hours', async () => {
  const world = await setup();
  const failures = new FailureLines({ ...world, crawler: 'page', worker: 'w-1' });
  const url = world.site.url('/page/1');
  const offerDetail = (n: number) => ({
    ...{ url: `${url}?${n}`, host: world.site.host, mark: `detail ${url}?${n}`, step: 'detail' },
    ...{ depth: 0, queue: 'normal' as const },
  });
  await world.frontier.offer('r', [offerDetail(1)]);
  const older = world.pipeline({ failures });
  const refuse = async (): Promise<void> => {
    for (const delivery of await world.deliveries()) expect(await older.handle(delivery)).toBe('ack');
  };
  const refuseFor = async (halfHours: number): Promise<void> => {
    for (let n = 0; n < halfHours; n++) {
      world.clock.step(30 * 60_000);
      await refuse();
    }
  };
  await refuse();
  await refuseFor(11);
  expect(await world.runs.progress('r')).toMatchObject({ waiting: 1, failed: 0 });
  const crawler = defineCrawler({
    name: 'page',
    patterns: { detail: '/*' },
    steps: { page: { run() {} }, detail: { run() {} } },
  });
  const crawlerNamed = () => ({ crawler, version: '01234567' });
  const newer = world.pipeline({
    runs: new RunDirectory({ runs: world.runs, crawlerNamed, defaults: FAST_RUN, log: silentLog }),
  });
  await world.frontier.offer('r', [offerDetail(2)]);
  world.clock.step(30 * 60_000);
  const [first, second] = await world.deliveries();
  expect(await newer.handle(second as Delivery)).toBe('ack');
  expect(await older.handle(first as Delivery), 'its six hours restart').toBe('ack');
  await refuseFor(11);
  expect(await world.runs.progress('r')).toMatchObject({ waiting: 1, done: 1, failed: 0 });
  await refuseFor(1);
  expect(await world.runs.progress('r')).toMatchObject({
    waiting: 0,
    inFlight: 0,
    failed: 1,
    reasons: { failed: { step: 1 } },
  });
  const error = 'no worker has had its step for 6 h: run r: crawler "page" has no step "detail" here';
  expect(await world.letters()).toMatchObject([
    { url: `${url}?1`, step: 'detail', reason: 'step', error, attempts: [] },
  ]);
  expect(world.sink.records.at(-1)).toMatchObject({
    outcome: 'failed',
    reason: 'step',
    step: 'detail',
    error,
    attempt: 0,
  });
});
