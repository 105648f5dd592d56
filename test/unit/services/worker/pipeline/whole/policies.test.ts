import { expect, test } from 'vitest';
import { z } from 'zod';
import { type Crawler, defineCrawler } from '../../../../../../shared/crawler/crawler.ts';
import type { RunOptions } from '../../../../../../shared/ports/runs.ts';
import { EVERYTHING } from '../../../../../support/stores/embedded.ts';
import { deliver, setup } from '../../setup.ts';

/** Makes one attempt for a path. Returns the record, the dead letters and the progress. */
async function attempted(crawler: Crawler, path: string, run: Partial<RunOptions> = {}) {
  const world = await setup({ crawler, run });
  expect(await world.pipeline().handle(await deliver(world, path))).toBe('ack');
  const record = world.sink.records[0];
  return { world, record, letters: await world.letters(), progress: await world.runs.progress('r') };
}

const throwing = (): never => {
  throw new Error('it broke');
};

test('a step’s own retry policy sets its attempts and delays', async () => {
  const retry = { attempts: 2, backoff: 'fixed', firstDelayMs: 5_000 } as const;
  const crawler = defineCrawler({ name: 'own', steps: { start: { retry, run() {} } } });
  const { world, progress } = await attempted(crawler, '/status/500', { maxAttempts: 9 });
  expect(progress).toMatchObject({ waiting: 1, failed: 0 });
  world.clock.step(4_999);
  expect(await world.deliveries()).toEqual([]);
  world.clock.step(1);
  const [again] = await world.deliveries();
  await world.pipeline().handle(again ?? expect.fail('it was not tried again'));
  expect(world.sink.records).toMatchObject([{ outcome: 'failed', reason: 'http_5xx', attempt: 2 }]);
});

test('a step that throws is retried if its policy says so, and its page is fetched again', async () => {
  let calls = 0;
  const run = (): void => {
    calls++;
    if (calls === 1) throwing();
  };
  const crawler = defineCrawler({ name: 'all', steps: { start: { retry: { when: 'all', firstDelayMs: 0 }, run } } });
  const { world, letters } = await attempted(crawler, '/page/1');
  expect(letters).toEqual([]);
  const [again] = await world.deliveries();
  await world.pipeline().handle(again ?? expect.fail('it was not tried again'));
  expect(world.sink.records).toMatchObject([{ outcome: 'done', attempt: 2 }]);
  expect(world.site.count('/page/1')).toBe(2);
});

test('a step’s rate sets the pause of its host after a page', async () => {
  const steps = { start: { rate: '6/min', run() {} } };
  const { world } = await attempted(defineCrawler({ name: 'slow', steps }), '/page/1');
  const { host } = new URL(world.site.url('/'));
  const grant = await world.gate.ask(host, { intervalMs: 1, concurrency: 0 }, 'another');
  expect(grant).toEqual({ granted: false, inMs: 10_000, because: 'pace' });
});

test('a fallback runs when the attempts are used up, and gets the reason and the answer', async () => {
  const crawler = defineCrawler({
    name: 'back',
    steps: {
      start: { to: ['list'], fallback: 'lost', run() {} },
      list: { run() {} },
      lost: {
        to: ['list'],
        run({ page, failure, emit, follow }) {
          emit({ failure, url: page.url, text: page.text });
          follow('list', '/page/2');
        },
      },
    },
  });
  const { world, record, letters, progress } = await attempted(crawler, '/status/404');
  const url = world.site.url('/status/404');
  const failure = { reason: 'http_4xx', status: 404, error: 'HTTP 404' };
  expect(record).toMatchObject({
    outcome: 'done',
    step: 'lost',
    insteadOf: 'start',
    status: 404,
    data: { failure, url, text: '' },
  });
  expect(letters).toEqual([]);
  expect(progress).toMatchObject({ done: 1, failed: 0, waiting: 1 });
  const { tasks } = await world.frontier.release(EVERYTHING);
  expect(tasks.map(({ task }) => [task.url, task.step])).toEqual([[world.site.url('/page/2'), 'list']]);
});

test('a fallback gets the page its step failed with, and can have a fallback of its own', async () => {
  const crawler = defineCrawler({
    name: 'chain',
    steps: {
      start: { record: z.object({ n: z.number() }), fallback: 'second', run: ({ emit }) => emit({ n: 'x' } as never) },
      second: { fallback: 'third', run: throwing },
      third: {
        run: ({ page, failure, emit }) => emit({ title: page.title, reason: failure?.reason, status: failure?.status }),
      },
    },
  });
  const { record } = await attempted(crawler, '/page/1');
  expect(record).toMatchObject({
    step: 'third',
    insteadOf: 'start',
    status: 200,
    data: { reason: 'step', status: 200 },
  });
});

test('a fallback of a page without an answer gets an empty page with status 0', async () => {
  const crawler = defineCrawler({
    name: 'none',
    steps: {
      start: { fallback: 'lost', run() {} },
      lost: { run: ({ page, failure, emit }) => emit({ status: page.status, failure }) },
    },
  });
  const world = await setup({ crawler, run: { maxAttempts: 1 } });
  const delivery = await deliver(world, '/page/1');
  await world.site.stop();
  await world.pipeline().handle(delivery);
  expect(world.sink.records).toMatchObject([
    { outcome: 'done', step: 'lost', status: 0, bytes: 0, data: { status: 0, failure: { reason: 'connection' } } },
  ]);
});

test('a task whose last fallback fails too fails with the error of that fallback', async () => {
  const crawler = defineCrawler({
    name: 'worst',
    steps: { start: { fallback: 'lost', run() {} }, lost: { run: throwing } },
  });
  const { record, letters, progress } = await attempted(crawler, '/status/404');
  expect(record).toMatchObject({ outcome: 'failed', reason: 'step', error: expect.stringContaining('it broke') });
  expect(letters).toMatchObject([{ reason: 'step' }]);
  expect(progress).toMatchObject({ done: 0, failed: 1 });
});

test('a fallback does not run while its step has attempts left', async () => {
  const crawler = defineCrawler({
    name: 'first',
    steps: { start: { fallback: 'lost', run() {} }, lost: { run() {} } },
  });
  const { record, progress } = await attempted(crawler, '/status/500');
  expect(record).toBeUndefined();
  expect(progress).toMatchObject({ waiting: 1, done: 0 });
});
