import { expect, test } from 'vitest';
import crawler from '../../../../../../crawlers/page.ts';
import type { PipelineOptions } from '../../../../../../services/worker/pipeline/pipeline.ts';
import { RunDirectory } from '../../../../../../services/worker/run-directory.ts';
import { SeedIntake } from '../../../../../../services/worker/seed-intake.ts';
import { FULL_NAP_MS } from '../../../../../../shared/loops/repeated-offer.ts';
import type { Delivery } from '../../../../../../shared/ports/transport.ts';
import { ConfigurationError } from '../../../../../../shared/runtime/errors.ts';
import { silentLog } from '../../../../../../shared/runtime/logger.ts';
import { FAST_RUN } from '../../../../../support/builders.ts';
import { EVERYTHING, settled } from '../../../../../support/stores/embedded.ts';
import { withMethods } from '../../../../../support/with-methods.ts';
import { deliver, deliveryOf, expectPutBack, releaseOf, setup, thatAnswers } from '../../setup.ts';

test('a message that is not a task is dead-lettered unchanged, or returned if its dead letter is refused', async () => {
  const world = await setup();
  expect(await world.pipeline().handle(deliveryOf('no task', { id: 'strange' }))).toBe('ack');
  const [letter] = await world.transport.browse(1);
  expect(letter?.headers['x-last-error']).toBe('malformed: the body is not JSON');
  expect([letter?.id, new TextDecoder().decode(letter?.body)]).toEqual(['strange', 'no task']);
  const transport = thatAnswers(world, 'refused');
  expect(await world.pipeline({ transport }).handle(deliveryOf('no task'))).toBe('return');
});

const NESTED = `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`;

test.each([
  ['cookies for an invalid URL', '"cookies":[["nonsense","a=b"]]', 'Expected a URL that can be crawled'],
  ['kept values nested too deep', `"kept":${NESTED}`, 'nested at most 32 deep'],
  ['kept values that are too large', `"kept":{"text":"${'x'.repeat(16_384)}"}`, 'Expected at most 16384 bytes of JSON'],
])('a message with %s is dead-lettered, as no worker could process it', async (_, odd, problem) => {
  const world = await setup();
  const body = `{"run":"lost","url":"${world.site.url('/page/1')}",${odd}}`;
  for (const about of [{ id: 'seed' }, { id: 'lost:00', release: 1 }])
    expect(await world.pipeline().handle(deliveryOf(body, about))).toBe('ack');
  const letters = await world.transport.browse(3);
  expect(letters.map(({ id }) => id)).toEqual(['seed', 'lost:00']);
  for (const { headers } of letters) expect(headers['x-last-error']).toContain(problem);
  expect(world.site.requests).toEqual([]);
});

test('a task with an unreadable message fails as malformed once it is dead-lettered', async () => {
  const world = await setup();
  const { id = '', headers } = await deliver(world, '/page/1');
  const broken = deliveryOf('{"v":1,"url":"http://:0/"}', { id, release: headers['x-release'] ?? 0 });
  expect(await world.pipeline().handle(broken)).toBe('ack');
  expect(await world.runs.progress('r')).toMatchObject({
    inFlight: 0,
    failed: 1,
    reasons: { failed: { malformed: 1 } },
  });
});

test('a message too large for a dead letter is dead-lettered with its first 1,048,576 bytes', async () => {
  const world = await setup();
  expect(await world.pipeline().handle(deliveryOf('x'.repeat(3 * 2 ** 20)))).toBe('ack');
  const [letter] = await world.transport.browse(1);
  expect(letter?.body.byteLength).toBe(2 ** 20);
  expect(letter?.headers['x-last-error']).toBe(
    'malformed: the body has 3145728 bytes, more than 262144 (the first 1048576 of 3145728 bytes)',
  );
});

test('a message of a newer version is put back for workers that can read it, and not dead-lettered', async () => {
  const world = await setup();
  const delivery = await deliver(world, '/page/1');
  const { id = '' } = delivery;
  const { release } = releaseOf(delivery);
  const strange = deliveryOf('{"v":3}', { id: id.replace(/.$/, (last) => (last === '0' ? '1' : '0')), release });
  expect(await world.pipeline().handle(strange), 'the release number belongs to another task').toBe('ack');
  expect(await world.runs.progress('r')).toMatchObject({ inFlight: 1 });
  const newer = deliveryOf('{"v":3,"address":"http://a.test/"}', { id, release });
  expect(await world.pipeline().handle(newer)).toBe('ack');
  expect((await world.frontier.release(EVERYTHING)).tasks, 'not at once').toEqual([]);
  world.clock.step(5_000);
  await expectPutBack(world);
  expect(await world.pipeline().handle(newer), 'stale').toBe('ack');
});

test('an old message whose release number now belongs to another task is dropped without a fetch', async () => {
  const world = await setup();
  await world.offer('/page/1', '/page/2');
  const [first, second] = await world.deliveries();
  if (first === undefined || second === undefined) throw new Error('two were offered');
  const old: Delivery = { ...first, headers: second.headers };
  expect(await world.pipeline().handle(old)).toBe('ack');
  expect(world.site.requests).toEqual([]);
  expect(await world.runs.progress('r')).toMatchObject({ inFlight: 2, done: 0 });
  expect(await world.pipeline().handle(second)).toBe('ack');
  expect(world.sink.records.map(({ url }) => url)).toEqual([world.site.url('/page/2')]);
  expect(await world.runs.progress('r')).toMatchObject({ inFlight: 1, done: 1 });
});

test('a task whose crawler this worker lacks is put back for other workers, with one warning', async () => {
  const world = await setup();
  const delivery = await deliver(world, '/page/1');
  const crawlerNamed = (): never => {
    throw new ConfigurationError(['no such crawler']);
  };
  const runs = new RunDirectory({ runs: world.runs, crawlerNamed, defaults: FAST_RUN, log: silentLog });
  const older = world.pipeline({ runs });
  expect(await older.handle(delivery)).toBe('ack');
  expect((await world.frontier.release(EVERYTHING)).tasks, 'not at once').toEqual([]);
  world.clock.step(5_000);
  await expectPutBack(world);
  expect(await older.handle(delivery), 'stale').toBe('ack');
  expect(world.log.lines).toEqual([
    'warn: a message that this worker cannot process is left to others: run r: no such crawler',
  ]);
  expect(world.site.requests).toEqual([]);
});

test('a task whose step this worker’s crawler lacks is put back, and not processed by another step', async () => {
  const world = await setup();
  const url = world.site.url('/page/1');
  await world.frontier.offer('r', [
    { url, host: world.site.host, mark: `detail ${url}`, step: 'detail', depth: 0, queue: 'normal' },
  ]);
  const [delivery] = await world.deliveries();
  if (delivery === undefined) throw new Error('it was offered');
  expect(await world.pipeline().handle(delivery)).toBe('ack');
  expect((await world.frontier.release(EVERYTHING)).tasks, 'not at once').toEqual([]);
  world.clock.step(5_000);
  await expectPutBack(world);
  expect(world.log.lines).toEqual([
    'warn: a message that this worker cannot process is left to others: run r: crawler "page" has no step "detail" here',
  ]);
  expect([world.site.requests, world.sink.records]).toEqual([[], []]);
});

test('a task of a lost run whose step this worker’s crawler lacks goes to the tail of its queue', async () => {
  const world = await setup();
  const body = JSON.stringify({ run: 'lost', url: world.site.url('/page/1'), step: 'detail' });
  expect(await world.pipeline().handle(deliveryOf(body, { id: 'lost:00', release: 7 }))).toBe('behind');
  expect(world.site.requests).toEqual([]);
});

test('the log names each run that the store has lost once, however many of its tasks are queued', async () => {
  const world = await setup();
  const pipeline = world.pipeline();
  for (const [run, path] of [
    ['lost', '/page/1'],
    ['lost', '/page/2'],
    ['gone', '/page/3'],
  ])
    await pipeline.handle(deliveryOf(JSON.stringify({ run, url: world.site.url(String(path)) }), { release: 7 }));
  const told = world.log.lines.filter((line) => line.startsWith('warn: unknown to the store'));
  expect(told.map((line) => line.split('--run): ')[1])).toEqual(['run lost', 'run gone']);
  expect(told[0]).toContain('check REDIS_URL and KEY_PREFIX');
  expect(world.sink.records.length).toBe(3);
});

test.each([
  ['of no run', {}],
  ['of a run that the store has lost', { id: 'lost:00', release: 1 }],
])('a message of a newer version %s goes to the tail of its queue', async (_, about) => {
  const world = await setup();
  expect(await world.pipeline().handle(deliveryOf('{"v":3}', about))).toBe('behind');
});

test('a message without a release is a seed of the run it names, or else of the run for foreign messages', async () => {
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

test('a seed whose worker dies before or after its offer is taken on redelivery, and its run is sealed', async () => {
  const world = await setup();
  const message = (path: string): Delivery => deliveryOf(JSON.stringify({ run: 'mine', url: world.site.url(path) }));
  const killedAt = (moment: 'offer' | 'seal'): Partial<PipelineOptions> => {
    const killed = async (): Promise<never> => {
      throw new Error('killed');
    };
    const frontier = withMethods(world.frontier, moment === 'offer' ? { offer: killed } : {});
    const runs = withMethods(world.runs, moment === 'seal' ? { seal: killed } : {});
    return { intake: new SeedIntake({ ...world.intakeParts, frontier, runs }) };
  };
  for (const [path, moment] of [
    ['/page/1', 'offer'],
    ['/page/2', 'seal'],
  ] as const) {
    await expect(world.pipeline(killedAt(moment)).handle(message(path))).rejects.toThrow('killed');
    world.clock.step(61_000);
    expect(await world.runs.progress('mine')).toMatchObject({ producers: { open: 0, lost: 1 } });
    expect(await world.pipeline().handle(message(path))).toBe('ack');
    expect(await world.runs.progress('mine')).toMatchObject({ sealed: true, producers: { open: 0, lost: 0 } });
  }
  expect(await world.runs.progress('mine')).toMatchObject({ discovered: 2 });
});

test('a seed refused by a full store keeps its run open until it is taken', async () => {
  const world = await setup();
  const message = deliveryOf(JSON.stringify({ run: 'mine', url: world.site.url('/page/1') }));
  const full = withMethods(world.frontier, { offer: async () => ({ refused: 'full' }) });
  const intake = new SeedIntake({ ...world.intakeParts, frontier: full });
  const handling = world.pipeline({ intake }).handle(message);
  // Returned at once, it would come again at once.
  await settled();
  expect(await Promise.race([handling, 'waits'])).toBe('waits');
  world.clock.step(FULL_NAP_MS);
  expect(await handling).toBe('return');
  expect(await world.runs.progress('mine')).toMatchObject({ state: 'running', sealed: false });
  expect(await world.pipeline().handle(message)).toBe('ack');
  expect(await world.runs.progress('mine')).toMatchObject({ sealed: true, discovered: 1 });
});

test('tasks of a lost run that was opened again are processed with its new options', async () => {
  const world = await setup({ run: { content: 'text' } });
  const lost = await setup({ run: { content: 'html' } });
  let store: Pick<typeof world, 'runs' | 'frontier'> = lost;
  const runs = new RunDirectory({
    runs: withMethods(world.runs, { progress: (run) => store.runs.progress(run) }),
    crawlerNamed: () => ({ crawler, version: '01234567' }),
    defaults: FAST_RUN,
    log: silentLog,
  });
  await lost.offer(world.site.url('/page/1'));
  const [before] = await lost.deliveries();
  await world.pipeline({ runs, frontier: lost.frontier }).handle(before as Delivery);
  store = world;
  expect(await world.pipeline({ runs }).handle(await deliver(world, '/page/2'))).toBe('ack');
  const [first, second] = world.sink.records;
  expect(first).toMatchObject({ content: expect.stringContaining('<title>') });
  expect(second).toMatchObject({ content: expect.not.stringContaining('<title>') });
});

test('HOST_CONCURRENCY also holds for a run that the store has lost', async () => {
  const world = await setup();
  const pipeline = world.pipeline({ hostConcurrency: 1 });
  const lost = (path: string, release: number): Delivery =>
    deliveryOf(JSON.stringify({ run: 'lost', url: world.site.url(path) }), { release });
  const first = pipeline.handle(lost('/hang', 7));
  await world.site.arrival('/hang');
  const second = pipeline.handle(lost('/page/1', 8));
  for (let n = 0; n < 4; n++) {
    await settled();
    world.clock.step(1_000);
  }
  expect(await second).toBe('return');
  expect(world.site.count('/page/1')).toBe(0);
  world.abort.abort();
  await first;
});

// biome-ignore format: a table
test.each([
  ['/page/1',     'done',   undefined],
  ['/status/404', 'failed', 'http_4xx'],
  ['/status/503', 'failed', 'http_5xx'],
  ['/status/429', 'failed', 'http_4xx'],
  ['/truncated',  'failed', 'connection'],
])('without a ledger, %s of a run that the store has lost is recorded or dead-lettered at once', async (path, outcome, reason) => {
  const world = await setup();
  const body = JSON.stringify({ run: 'lost', url: world.site.url(path) });
  expect(await world.pipeline().handle(deliveryOf(body, { release: 7 }))).toBe('ack');
  expect(world.sink.records).toMatchObject([{ run: 'lost', outcome, release: 0 }]);
  expect((await world.letters()).map((letter) => letter?.reason)).toEqual(reason === undefined ? [] : [reason]);
  expect(await world.runs.progress('lost')).toBeUndefined();
});

test('a task of a lost run that can’t be processed now is returned to the queue after a delay', async () => {
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
