import { expect, test } from 'vitest';
import { Slots } from '../../../../../services/worker/concurrency/slots.ts';
import { RecordRefusedError, type Sink } from '../../../../../shared/ports/sink.ts';
import { FAST_RUN } from '../../../../support/builders.ts';
import { EVERYTHING, settled } from '../../../../support/stores/embedded.ts';
import { withMethods } from '../../../../support/with-methods.ts';
import { deliver, deliveryOf, expectPutBack, releaseOf, setup } from '../setup.ts';

// biome-ignore format: a table
test.each([
  ['/page/1',                 { done: 1 },    undefined,      1, 0],
  ['/redirect/2',             { done: 1 },    undefined,      1, 0],
  ['/type?ct=image/png',      { skipped: 1 }, 'content_type', 1, 0],
  ['/big?bytes=200000',       { skipped: 1 }, 'size',         1, 0],
  ['http://10.0.0.1/',        { skipped: 1 }, 'private_address', 1, 0],
  ['/status/404',             { failed: 1 },  'http_4xx',     1, 1],
  ['/redirect/11',            { failed: 1 },  'redirects',    1, 1],
  ['/status/503',             { waiting: 1 }, undefined,      0, 0],
  ['/truncated',              { waiting: 1 }, undefined,      0, 0],
  ['/status/429',             { waiting: 1 }, undefined,      0, 0],
])('the outcome of %s is %j', async (path, counts, reason, records, letters) => {
  const world = await setup();
  const delivery = await deliver(world, path);
  expect(await world.pipeline().handle(delivery)).toBe('ack');
  const progress = await world.runs.progress('r');
  expect(progress).toMatchObject({ discovered: 1, inFlight: 0, ...counts });
  expect(world.sink.records.length).toBe(records);
  expect((await world.letters()).length).toBe(letters);
  if (reason !== undefined) expect(world.sink.records).toMatchObject([{ reason, release: expect.any(Number), attempt: 1 }]);
  expect(await world.pipeline().handle(delivery), 'delivered again, it changes nothing').toBe('ack');
  expect(await world.runs.progress('r')).toEqual(progress);
  expect(world.sink.records.length).toBe(records);
});

// biome-ignore format: a table
test.each([
  ['/page/1',     ['link', 'put', 'settle done']],
  ['/status/404', ['put', 'publish failed', 'settle failed']],
  ['/status/503', ['settle retry']],
  ['/status/429', ['settle defer']],
])('the effects of %s come in the order %j', async (path, order) => {
  const world = await setup({ run: { follow: true } });
  const { frontier, sink, transport } = world;
  const effects: string[] = [];
  const pipeline = world.pipeline({
    frontier: withMethods(frontier, {
      offer: async (...args) => {
        effects.push('link');
        return await frontier.offer(...args);
      },
      settle: async (...args) => {
        effects.push(`settle ${args[2].outcome.kind}`);
        return await frontier.settle(...args);
      },
    }),
    sink: withMethods(sink, {
      put: async (record) => {
        await settled();
        await sink.put(record);
        effects.push('put');
      },
    }),
    transport: withMethods(transport, {
      publish: async (messages) => {
        await settled();
        const outcomes = await transport.publish(messages);
        effects.push(`publish ${messages[0]?.to}`);
        return outcomes;
      },
    }),
  });
  expect(await pipeline.handle(await deliver(world, path))).toBe('ack');
  expect(effects).toEqual(order);
});

test('the response of a page that is done is cached, and the next run uses it without a request', async () => {
  const world = await setup();
  await world.pipeline().handle(await deliver(world, '/page/1'));
  await world.pipeline().handle(await deliver(world, '/status/404'));
  await world.runs.open('next', FAST_RUN, 'p');
  for (const path of ['/page/1', '/status/404']) {
    const body = JSON.stringify({ run: 'next', url: world.site.url(path) });
    await world.pipeline().handle(deliveryOf(body));
  }
  const { tasks } = await world.frontier.release(EVERYTHING);
  for (const { task, release } of tasks) {
    await world.pipeline().handle(deliveryOf(JSON.stringify({ run: 'next', url: task.url }), { release }));
  }
  expect([world.site.count('/page/1'), world.site.count('/status/404')]).toEqual([1, 2]);
  expect(await world.runs.progress('next')).toMatchObject({ done: 1, failed: 1, bytes: 0 });
  const [first, , again] = world.sink.records;
  expect([first, again]).toMatchObject([
    { fromCache: false, attempt: 1 },
    { run: 'next', fromCache: true, attempt: 0 },
  ]);
});

test.each(['/page/1', '/status/404', '/type?ct=image/png'])(
  'when the sink fails, %s is put back without counting an attempt and is not dead-lettered',
  async (path) => {
    const world = await setup();
    world.sink.failure = new Error('no space left');
    expect(await world.pipeline().handle(await deliver(world, path))).toBe('ack');
    expect(world.sinkFailures).toEqual(['no space left']);
    await expectPutBack(world);
  },
);

test('a delivery of a release no longer in the ledger is acked and dropped without a fetch', async () => {
  const world = await setup();
  const delivery = await deliver(world, '/page/1');
  world.clock.step(60_000);
  expect(await world.frontier.reap()).toBe(1);
  expect(await world.pipeline().handle(delivery)).toBe('ack');
  expect([world.site.requests, world.sink.records]).toEqual([[], []]);
  expect(await world.runs.progress('r')).toMatchObject({ waiting: 1, done: 0 });
});

test('a page whose release goes stale while it is fetched leaves no record and no links', async () => {
  const world = await setup({ run: { follow: true } });
  const { promise: answer, resolve } = Promise.withResolvers<void>();
  world.site.on('/slow', async (_, response) => {
    await answer;
    response.setHeader('content-type', 'text/html').end('<a href="/page/1">a link</a>');
  });
  const handled = world.pipeline().handle(await deliver(world, '/slow'));
  await world.site.arrival('/slow');
  world.clock.step(60_000);
  await world.frontier.reap();
  await world.frontier.release(EVERYTHING);
  resolve();
  expect(await handled).toBe('ack');
  expect(world.sink.records).toEqual([]);
  expect(await world.runs.progress('r')).toMatchObject({ discovered: 1, inFlight: 1, done: 0 });
});

// biome-ignore format: a table
test.each([
  ['429 with a body that breaks off',       'HTTP/1.1 429 Slow down\r\nretry-after: 120\r\ncontent-length: 100\r\n\r\nonly this', 120_000],
  ['429 whose chunks break off',            'HTTP/1.1 429 Slow down\r\nretry-after: 120\r\ntransfer-encoding: chunked\r\n\r\n4\r\nonly\r\n', 120_000],
  ['429 with a chunk that has no size',     'HTTP/1.1 429 Slow down\r\nretry-after: 120\r\ntransfer-encoding: chunked\r\n\r\n4\r\nonly\r\nzz\r\n', 120_000],
  ['429 with half a gzip body',             'HTTP/1.1 429 Slow down\r\nretry-after: 120\r\ncontent-encoding: gzip\r\ncontent-length: 3\r\n\r\n\x1f\x8b\x08', 120_000],
  ['429 in an unknown coding',     'HTTP/1.1 429 Slow down\r\nretry-after: 120\r\ncontent-encoding: rot13\r\ncontent-length: 3\r\n\r\nabc', 120_000],
  ['429 without a body or Retry-After',          'HTTP/1.1 429 Slow down\r\ncontent-length: 0\r\n\r\n', 15_000],
  ['503 with Retry-After and a body that breaks off',      'HTTP/1.1 503 Busy\r\nretry-after: 120\r\ncontent-length: 100\r\n\r\nonly this', 120_000],
])('%s pauses the whole host without counting an attempt', async (_, answer, pausedMs) => {
  const world = await setup();
  world.site.on('/busy', (request) => void request.socket.end(answer, 'latin1'));
  const delivery = await deliver(world, '/busy');
  await world.offer('/page/1');
  expect(await world.pipeline().handle(delivery)).toBe('ack');
  expect(await world.gate.ask(world.site.host, { intervalMs: 0, concurrency: 0 }, 'another')).toEqual({
    granted: false,
    inMs: pausedMs,
    because: 'pause',
  });
  expect(await world.deliveries(), 'nothing of the host is released').toEqual([]);
  world.clock.step(pausedMs);
  const { tasks: first } = await world.frontier.release(EVERYTHING);
  world.clock.step(2_000);
  const { tasks: second } = await world.frontier.release(EVERYTHING);
  const waited = [...first, ...second].map(({ task, state }) => [task.url, state.attempts]);
  expect(waited.toSorted()).toEqual([
    [world.site.url('/busy'), 0],
    [world.site.url('/page/1'), 0],
  ]);
  expect([world.sink.records, await world.letters()]).toEqual([[], []]);
});

test('a page whose host can’t be asked within 250 ms is put back, and not released before it can', async () => {
  const world = await setup({ run: { intervalMs: 10_000 } });
  const delivery = await deliver(world, '/page/1');
  await world.gate.ask(world.site.host, { intervalMs: 10_000, concurrency: 0 }, 'somebody else');
  expect(await world.pipeline().handle(delivery)).toBe('ack');
  expect(world.site.requests).toEqual([]);
  expect(await world.runs.progress('r')).toMatchObject({ waiting: 1, inFlight: 0 });
  expect((await world.frontier.release(EVERYTHING)).tasks).toEqual([]);
});

test('a delivery whose gate fails comes again, and nothing is fetched', async () => {
  const world = await setup({ run: { intervalMs: 1 } });
  const gate = withMethods(world.gate, { ask: () => Promise.reject(new Error('Redis is away')) });
  await expect(world.pipeline({ gate }).handle(await deliver(world, '/page/1'))).rejects.toThrow('Redis is away');
  expect(world.site.requests).toEqual([]);
});

test('a page gives its place at the host back whether it is done, fails or must be retried', async () => {
  const world = await setup();
  for (const path of ['/page/1', '/status/404', '/reset']) {
    await world.pipeline({ hostConcurrency: 1 }).handle(await deliver(world, path));
    const grant = await world.gate.ask(world.site.host, { intervalMs: 0, concurrency: 1 }, 'another');
    expect(grant, path).toEqual({ granted: true, inMs: 0 });
    await world.gate.leave(world.site.host, { intervalMs: 0, concurrency: 1 }, 'another');
  }
});

test('a task aborted during its fetch is put back without counting an attempt', async () => {
  const world = await setup();
  const handled = world.pipeline().handle(await deliver(world, '/hang'));
  await world.site.arrival('/hang');
  world.abort.abort();
  expect(await handled).toBe('ack');
  await expectPutBack(world);
});

test('a delivery of a cancelled run is acked without a fetch', async () => {
  const world = await setup();
  const delivery = await deliver(world, '/page/1');
  await world.runs.cancel('r');
  expect(await world.pipeline().handle(delivery)).toBe('ack');
  expect(await world.runs.progress('r')).toMatchObject({ cancelled: 1, inFlight: 0 });
  expect(world.site.requests).toEqual([]);
});

test('a page whose record the sink refuses fails without stopping the worker', async () => {
  const world = await setup({ run: { follow: true, maxDepth: 0 } });
  const sink = withMethods<Sink>(world.sink, {
    put: async (record) => {
      if (record.outcome === 'done') throw new RecordRefusedError('the record holds a BigInt');
      await world.sink.put(record);
    },
  });
  const delivery = await deliver(world, '/page/1');
  expect(await world.pipeline({ sink }).handle(delivery)).toBe('ack');
  expect(world.sink.records).toMatchObject([
    { outcome: 'failed', reason: 'schema', error: 'the record holds a BigInt' },
  ]);
  expect(await world.letters()).toMatchObject([{ reason: 'schema' }]);
  expect(await world.runs.progress('r')).toMatchObject({ failed: 1, inFlight: 0, leftOut: { depth: 3 } });
  expect(world.sinkFailures).toEqual([]);
});

test('a suspect that arrives while another one runs is put back, so that it doesn’t die with it', async () => {
  const world = await setup();
  const slots = new Slots(4);
  const { promise: other, resolve } = Promise.withResolvers<void>();
  await slots.enter('normal');
  const first = slots.alone(() => other);
  const delivery = await deliver(world, '/page/1');
  for (let starts = 0; starts < 2; starts++) await world.frontier.admit('r', releaseOf(delivery), 'w-dead');
  expect(await world.pipeline({ slots }).handle(delivery)).toBe('ack');
  expect(world.site.requests).toEqual([]);
  await expectPutBack(world, 2);
  resolve();
  await first;
});
