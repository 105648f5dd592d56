import { expect, test } from 'vitest';
import { QueueTail } from '../../../../services/worker/queue-tail.ts';
import type { Delivery, Handling } from '../../../../shared/ports/transport.ts';
import { LogLines, openEmbedded, settled } from '../../../support/stores/embedded.ts';
import { withMethods } from '../../../support/with-methods.ts';
import { deliveryOf } from './setup.ts';

async function setup(places: number) {
  const { transport, clock } = openEmbedded();
  const abort = new AbortController();
  const log = new LogLines();
  const tail = new QueueTail({ transport, clock, log, signal: abort.signal, places });
  return { transport, clock, abort, log, tail, ready: async () => (await transport.depths()).normal.ready };
}

test('messages with a place wait two seconds before they go back; the others go back at once, one after another', async () => {
  const { tail, clock, ready } = await setup(2);
  const put = Array.from({ length: 5 }, (_, i) => tail.put(deliveryOf('{"v":3}', { id: `${i}` })));
  await settled();
  expect(await ready()).toBe(1);
  clock.step(5);
  await settled();
  expect(await ready()).toBe(2);
  clock.step(5);
  await settled();
  expect(await ready()).toBe(3);
  clock.step(1_989);
  await settled();
  expect(await ready()).toBe(3);
  clock.step(1);
  expect(await Promise.all(put)).toEqual(['ack', 'ack', 'ack', 'ack', 'ack']);
  expect(await ready()).toBe(5);
});

test('a message keeps its body, id and first-seen time when it goes to the tail, and is dropped after an hour', async () => {
  const { tail, clock, transport, log } = await setup(0);
  const first = clock.now();
  await tail.put({ ...deliveryOf('{"v":3}', { id: 'a', release: 7 }), queue: 'priority' });
  const taken = Promise.withResolvers<Delivery>();
  const handler = async (delivery: Delivery): Promise<Handling> => {
    taken.resolve(delivery);
    return 'ack';
  };
  const consumer = await transport.consume('priority', handler, { prefetch: 1 });
  const again = await taken.promise;
  await consumer.stop();
  expect(again).toMatchObject({ id: 'a', queue: 'priority', headers: { 'x-release': 7, 'x-first-seen': first } });
  expect(new TextDecoder().decode(again.body)).toBe('{"v":3}');
  clock.step(3_600_001);
  expect(await tail.put(again), 'as long as a queue keeps one').toBe('ack');
  expect((await transport.depths()).priority.ready).toBe(0);
  expect(log.lines).toEqual(['warn: a message that no worker could process is dropped after an hour: a']);
});

test('a place is free again once its message has gone to the tail', async () => {
  const { tail, clock, ready } = await setup(1);
  for (const gone of [1, 2]) {
    const put = tail.put(deliveryOf('{"v":3}', { id: `${gone}` }));
    await settled();
    expect(await ready()).toBe(gone - 1);
    clock.step(2_000);
    expect(await put).toBe('ack');
  }
});

test('a message that its queue refuses is returned to the broker', async () => {
  const { transport, ...options } = await setup(0);
  const full = withMethods(transport, { publish: async () => ['refused'] as const });
  const tail = new QueueTail({ ...options, transport: full, signal: options.abort.signal, places: 0 });
  expect(await tail.put(deliveryOf('{"v":3}'))).toBe('return');
});

test.each<[string, Handling]>([['a worker that stops gives back what it holds', 'return']])(
  '%s',
  async (_, handling) => {
    const { tail, abort, ready } = await setup(1);
    const put = tail.put(deliveryOf('{"v":3}'));
    abort.abort();
    expect(await put).toBe(handling);
    expect(await ready()).toBe(0);
  },
);
