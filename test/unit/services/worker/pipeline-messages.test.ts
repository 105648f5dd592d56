import { expect, test } from 'vitest';
import { RunDirectory } from '../../../../services/worker/run-directory.ts';
import type { Crawler } from '../../../../shared/crawler/crawler.ts';
import { ConfigurationError } from '../../../../shared/errors.ts';
import type { Delivery } from '../../../../shared/transport.ts';
import { FAST_RUN } from '../../../support/builders.ts';
import { EVERYTHING, settled } from '../../../support/embedded.ts';
import { deliver, deliveryOf, expectPutBack, setup, thatAnswers } from './setup.ts';

test('what is no task is buried as it came; if it can not be, it goes back', async () => {
  const world = await setup();
  expect(await world.pipeline().handle(deliveryOf('no task', { id: 'strange' }))).toBe('ack');
  const [letter] = await world.transport.browse(1);
  expect(letter?.headers['x-last-error']).toBe('malformed: the body is not JSON');
  expect([letter?.id, new TextDecoder().decode(letter?.body)]).toEqual(['strange', 'no task']);
  const transport = thatAnswers(world, 'refused');
  expect(await world.pipeline({ transport }).handle(deliveryOf('no task'))).toBe('return');
});

test('of what is too large to be buried whole, the beginning is', async () => {
  const world = await setup();
  expect(await world.pipeline().handle(deliveryOf('x'.repeat(3 * 2 ** 20)))).toBe('ack');
  const [letter] = await world.transport.browse(1);
  expect(letter?.body.byteLength).toBe(2 ** 20);
  expect(letter?.headers['x-last-error']).toBe('malformed: the body is not JSON (the first 1048576 of 3145728 bytes)');
});

test('a message of a newer version is put back for who can read it, and never malformed', async () => {
  const world = await setup();
  const { id = '' } = await deliver(world, '/page/1');
  const newer = deliveryOf('{"v":2,"address":"http://a.test/"}', { id, release: 1 });
  expect(await world.pipeline().handle(newer)).toBe('ack');
  expect((await world.frontier.release(EVERYTHING)).tasks, 'not at once').toEqual([]);
  world.clock.step(5_000);
  await expectPutBack(world);
  expect(await world.pipeline().handle(newer), 'stale').toBe('ack');
});

test('a task whose crawler this worker has not is put back for who has it, and told of once', async () => {
  const world = await setup();
  const delivery = await deliver(world, '/page/1');
  const loadCrawler = async (): Promise<Crawler> => {
    throw new ConfigurationError(['no such crawler']);
  };
  const runs = new RunDirectory({ runs: world.runs, loadCrawler, defaults: FAST_RUN });
  const older = world.pipeline({ runs });
  expect(await older.handle(delivery)).toBe('ack');
  expect((await world.frontier.release(EVERYTHING)).tasks, 'not at once').toEqual([]);
  world.clock.step(5_000);
  await expectPutBack(world);
  expect(await older.handle(delivery), 'stale').toBe('ack');
  expect(world.log.lines).toEqual(['warn: what this worker can not work is left to others: run r: no such crawler']);
  expect(world.site.requests).toEqual([]);
});

test.each([
  ['of no run', {}],
  ['of a run that the store has lost', { id: 'lost:00', release: 1 }],
])('a message of a newer version %s goes back to the queue, after a while', async (_, about) => {
  const world = await setup();
  const handling = world.pipeline().handle(deliveryOf('{"v":2}', about));
  expect(await Promise.race([handling, settled().then(() => 'held')])).toBe('held');
  world.clock.step(2_000);
  expect(await handling).toBe('return');
});

test('a message without a release is a seed: of its run, or of a run for strangers', async () => {
  const world = await setup();
  const url = world.site.url('/page/1');
  expect(await world.pipeline().handle(deliveryOf(JSON.stringify({ run: 'r', url })))).toBe('ack');
  expect(await world.pipeline().handle(deliveryOf(JSON.stringify({ url })))).toBe('ack');
  expect(await world.runs.progress('r')).toMatchObject({ discovered: 1, waiting: 1, sealed: false });
  expect(await world.runs.progress('amqp')).toMatchObject({ discovered: 1, waiting: 1, sealed: true });
  await world.runs.cancel('r');
  expect(await world.pipeline().handle(deliveryOf(JSON.stringify({ run: 'r', url: `${url}2` })))).toBe('ack');
  expect(await world.runs.progress('r')).toMatchObject({ discovered: 1 });
});

// biome-ignore format: a table
test.each([
  ['/page/1',     'done',   undefined],
  ['/status/404', 'failed', 'http_4xx'],
  ['/status/503', 'failed', 'http_5xx'],
  ['/status/429', 'failed', 'http_4xx'],
  ['/truncated',  'failed', 'connection'],
])('a run that the store has lost: %s is worked without a ledger, and recorded or buried at once', async (path, outcome, reason) => {
  const world = await setup();
  const body = JSON.stringify({ run: 'lost', url: world.site.url(path) });
  expect(await world.pipeline().handle(deliveryOf(body, { release: 7 }))).toBe('ack');
  expect(world.sink.records).toMatchObject([{ run: 'lost', outcome, release: 0 }]);
  expect((await world.letters()).map((letter) => letter?.reason)).toEqual(reason === undefined ? [] : [reason]);
  expect(await world.runs.progress('lost')).toBeUndefined();
});

test('a run that the store has lost: what can not be worked now goes back to the queue, and not too fast', async () => {
  const world = await setup();
  const lost = (path: string): Delivery =>
    deliveryOf(JSON.stringify({ run: 'lost', url: world.site.url(path) }), { release: 7 });
  await world.gate.pause(world.site.host, 60_000, 'Retry-After');
  const handled = world.pipeline({ hostConcurrency: 1 }).handle(lost('/page/1'));
  await settled();
  expect(await Promise.race([handled, 'held'])).toBe('held');
  world.clock.step(2_000);
  expect(await handled).toBe('return');
  const cut = world.pipeline().handle(lost('/hang'));
  await world.site.arrival('/hang');
  world.abort.abort();
  expect(await cut).toBe('return');
  expect(world.sink.records).toEqual([]);
});
