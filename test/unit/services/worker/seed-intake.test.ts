import { expect, test } from 'vitest';
import { SeedIntake } from '../../../../services/worker/seed-intake.ts';
import { defineCrawler } from '../../../../shared/crawler/crawler.ts';
import { ConfigurationError } from '../../../../shared/runtime/errors.ts';
import { EVERYTHING } from '../../../support/stores/embedded.ts';
import { deliveryOf, setup } from './setup.ts';

const crawler = defineCrawler({
  name: 'shop',
  patterns: { product: '/product/*' },
  steps: { list: { to: ['reviews'], run() {} }, product: { run() {} }, reviews: { run() {} } },
});

test('a seed from another program starts at the step whose pattern it matches, unless it names a step', async () => {
  const world = await setup({ crawler });
  const take = async (seed: object): Promise<void> => {
    expect(await world.pipeline().handle(deliveryOf(JSON.stringify({ run: 'r', ...seed })))).toBe('ack');
  };
  await take({ url: world.site.url('/all/') });
  await take({ url: world.site.url('/product/1') });
  await take({ url: world.site.url('/product/2'), step: 'reviews' });
  const { tasks } = await world.frontier.release(EVERYTHING);
  expect(tasks.map(({ task }) => [new URL(task.url).pathname, task.step])).toEqual([
    ['/all/', ''],
    ['/product/1', 'product'],
    ['/product/2', 'reviews'],
  ]);
});

test('a seed of a run whose crawler this worker lacks goes back to the queue, and a worker that has it takes it', async () => {
  const world = await setup({ crawler });
  const startOf = (): never => {
    throw new ConfigurationError(['there is no crawler "shop" here']);
  };
  const message = deliveryOf(JSON.stringify({ run: 'r', url: world.site.url('/product/1') }));
  const intake = new SeedIntake({ ...world.intakeParts, startOf });
  expect(await world.pipeline({ intake }).handle(message)).toBe('behind');
  expect(await world.runs.progress('r')).toMatchObject({ discovered: 0, state: 'running' });
  expect(world.log.lines).toEqual([
    'warn: a message that this worker cannot process is left to others: run r: there is no crawler "shop" here',
  ]);
  expect(await world.pipeline().handle(message)).toBe('ack');
  expect(await world.runs.progress('r')).toMatchObject({ discovered: 1 });
});
