import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'amqplib';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { OutgoingMessage } from '../../shared/ports/transport.ts';
import { ConfigurationError } from '../../shared/runtime/errors.ts';
import { RabbitMqConsumer } from '../../shared/transports/rabbitmq/consumer.ts';
import { QUEUE_TTL_MS } from '../../shared/transports/rabbitmq/topology.ts';
import type { TcpProxy } from '../support/proxies/tcp-proxy.ts';
import { deleteTopology, testTransport, uniquePrefix } from '../support/stores/rabbitmq.ts';
import { declaredAgain, setup, URL_GIVEN } from './suites/rabbitmq/setup.ts';
import { Inbox } from './suites/transport.contract.ts';

function message(id: string): OutgoingMessage {
  return { to: 'normal', id, body: '{}', headers: {} };
}

describe('RabbitMQ: broker and network trouble', () => {
  test('after a lost connection consumers resume, unacked deliveries come again, and late acks do no harm', async () => {
    const { transport, proxy, told } = await setup();
    const { promise: release, resolve } = Promise.withResolvers<'ack'>();
    const inbox = new Inbox(({ redelivered }) => (redelivered ? 'ack' : release));
    const consumer = await transport.consume('normal', inbox.handler, { prefetch: 10 });
    await transport.publish([message('a'), message('b')]);
    await inbox.has(2);
    proxy.cut();
    await told.isBack(1);
    const again = (await inbox.has(4)).slice(2);
    expect(again.map(({ id }) => id).toSorted()).toEqual(['a', 'b']);
    resolve('ack');
    expect(await transport.publish([message('c')])).toEqual(['confirmed']);
    await inbox.has(5);
    expect(consumer.consuming).toBe(true);
    await consumer.stop();
    // The broker counts a consumer until its last ack or the end of its channel has reached the queue.
    await expect.poll(async () => (await transport.depths()).normal).toEqual({ ready: 0, consumers: 0 });
  });

  test('a consumer started while the connection dies is attached to the next connection', async () => {
    const { transport, proxy, told } = await setup();
    for (let round = 1; round <= 5; round++) {
      const inbox = new Inbox();
      proxy.cut();
      const consumer = await transport.consume('normal', inbox.handler, { prefetch: 5 });
      await told.isBack(round);
      expect(await transport.publish([message(`round ${round}`)])).toEqual(['confirmed']);
      await inbox.has(1);
      expect(consumer.consuming).toBe(true);
      await consumer.stop();
    }
  });

  test('consumers for which the broker allows too few channels are reported, not forgotten', async () => {
    const prefix = uniquePrefix();
    const lost: string[] = [];
    const url = new URL(URL_GIVEN);
    url.searchParams.set('channelMax', '1');
    const transport = testTransport(url.href, prefix, { onLost: (reason) => lost.push(reason) });
    onTestFinished(() => deleteTopology(URL_GIVEN, prefix));
    await transport.start();
    onTestFinished(() => transport.stop());
    for (const queue of ['priority', 'normal'] as const) {
      await transport.consume(queue, new Inbox().handler, { prefetch: 5 });
    }
    await expect.poll(() => lost).toContainEqual(expect.stringContaining('raise its channel_max'));
  });

  test('a consumer stopped while being attached to a new connection takes no more messages', async () => {
    const { transport, prefix } = await setup();
    const model = await connect(URL_GIVEN);
    onTestFinished(() => model.close());
    const inbox = new Inbox();
    const consumer = new RabbitMqConsumer({
      ...{ queue: 'normal', name: `${prefix}url_queue_ttl`, prefetch: 5, ack: 'manual', handler: inbox.handler },
      ...{ renewMs: 60_000, onStop: () => {}, onStalled: () => {} },
    });
    const attached = consumer.attach({ model, watch: (channel) => channel });
    await Promise.all([consumer.stop(), attached]);
    expect(consumer.consuming).toBe(false);
    await transport.publish([message('for others')]);
    await expect.poll(async () => (await transport.depths()).normal).toEqual({ ready: 1, consumers: 0 });
  });

  test.each([
    ['just as the connection dies', (proxy: TcpProxy) => proxy.cut()],
    ['while the broker is away', (proxy: TcpProxy) => proxy.close()],
  ])('stop works %s', async (_, harm) => {
    const { transport, proxy } = await setup();
    await transport.consume('normal', new Inbox().handler, { prefetch: 5 });
    harm(proxy);
    await transport.stop();
    await transport.stop();
  });

  test('stop works during a reconnect, even if that connection dies too', async () => {
    const { transport, proxy } = await setup();
    const again = proxy.arrival();
    proxy.cut();
    await again;
    const stopped = transport.stop();
    // After Start, Tune and OpenOk the connection is established. It is cut at the next frame.
    await proxy.turn(3);
    proxy.cut();
    await stopped;
    await transport.stop();
  });

  test('every confirmed message arrives although connections are cut again and again while publishing', async () => {
    const { transport, proxy } = await setup();
    const inbox = new Inbox();
    await transport.consume('normal', inbox.handler, { prefetch: 50 });
    const confirmed: string[] = [];
    for (let round = 0; round < 5; round++) {
      const batch = Array.from({ length: 400 }, (_, i) => message(`${round}-${i}`));
      const publishing = transport.publish(batch);
      if (round > 0) proxy.cut();
      const outcomes = await publishing;
      confirmed.push(...batch.filter((_, i) => outcomes[i] === 'confirmed').map(({ id }) => id));
      expect(outcomes.length).toBe(400);
      await expect.poll(() => transport.trouble()).toBeUndefined();
    }
    await expect
      .poll(() => confirmed.filter((id) => !inbox.deliveries.some((delivery) => delivery.id === id)))
      .toEqual([]);
    expect(confirmed.length).toBeGreaterThanOrEqual(400);
  });

  test('while the broker is unreachable, nothing is sent and publish resolves at once', async () => {
    const { transport, proxy, told } = await setup();
    proxy.close();
    await expect.poll(() => transport.trouble()).toBe('disconnected');
    expect(await transport.publish([message('a')])).toEqual(['refused']);
    proxy.open();
    await told.isBack(1);
    expect(await transport.publish([message('a')])).toEqual(['confirmed']);
    expect(told.lost.join(' ')).not.toContain('guest');
  });

  test('a message that no queue takes is published again after the queue or binding has been declared again', async () => {
    const { transport, prefix } = await setup();
    const connection = await connect(URL_GIVEN);
    const channel = await connection.createChannel();
    await channel.unbindQueue(`${prefix}url_queue_ttl`, `${prefix}crawl`, 'normal');
    await channel.deleteQueue(`${prefix}failed_urls`);
    const messages = [message('a'), { ...message('b'), to: 'priority' }, { ...message('c'), to: 'failed' }] as const;
    expect(await transport.publish(messages)).toEqual(['confirmed', 'confirmed', 'confirmed']);
    expect(await transport.depths()).toMatchObject({
      normal: { ready: 1 },
      priority: { ready: 1 },
      failed: { ready: 1 },
    });
    await connection.close();
  });

  test('a message that no queue takes is returned if the queue cannot be declared; the next message is confirmed', async () => {
    const { transport, prefix } = await setup();
    const connection = await connect(URL_GIVEN);
    const channel = await connection.createChannel();
    await channel.deleteQueue(`${prefix}failed_urls`);
    await channel.assertQueue(`${prefix}failed_urls`, { durable: true, arguments: { 'x-message-ttl': 1 } });
    expect(await transport.publish([{ ...message('a'), to: 'failed' }, message('b')])).toEqual([
      'returned',
      'confirmed',
    ]);
    await connection.close();
  });

  test('a sift fails when the connection dies, and all its letters are kept', async () => {
    const { transport, proxy, told } = await setup();
    await transport.publish(['a', 'b'].map((id): OutgoingMessage => ({ ...message(id), to: 'failed' })));
    const sifting = transport.sift(async (letters) => {
      proxy.cut();
      await told.isBack(1);
      return letters.map(() => 'delete');
    });
    await expect(sifting).rejects.toThrow('The connection to RabbitMQ was lost');
    await expect.poll(async () => (await transport.browse(9)).length).toBe(2);
  });

  test('processes that read letters at the same time each see all letters', async () => {
    const { transport, prefix } = await setup();
    const other = testTransport(URL_GIVEN, prefix, {});
    await other.start();
    onTestFinished(() => other.stop());
    await transport.publish(['a', 'b', 'c'].map((id): OutgoingMessage => ({ ...message(id), to: 'failed' })));
    for (let round = 0; round < 5; round++) {
      const looks = await Promise.all([transport, other, transport].map((each) => each.browse(9)));
      expect(looks.map((look) => look.map(({ id }) => id).toSorted())).toEqual(Array(3).fill(['a', 'b', 'c']));
    }
  });

  test('a message that a full queue rejects is reported as refused', async () => {
    const { prefix, transport } = await setup();
    const connection = await connect(URL_GIVEN);
    const channel = await connection.createChannel();
    await channel.unbindQueue(`${prefix}url_queue_ttl`, `${prefix}crawl`, 'normal');
    const { queue } = await channel.assertQueue('', {
      exclusive: true,
      arguments: { 'x-max-length': 1, 'x-overflow': 'reject-publish' },
    });
    await channel.bindQueue(queue, `${prefix}crawl`, 'normal');
    const outcomes = [];
    for (const id of ['a', 'b', 'c']) outcomes.push(...(await transport.publish([message(id)])));
    expect(outcomes).toEqual(['confirmed', 'refused', 'refused']);
    await connection.close();
  });

  test('a consumer whose queue is deleted resumes after everything has been declared again', async () => {
    const { transport, told, prefix } = await setup();
    const inbox = new Inbox();
    const consumer = await transport.consume('normal', inbox.handler, { prefetch: 5 });
    const connection = await connect(URL_GIVEN);
    const channel = await connection.createChannel();
    await channel.deleteQueue(`${prefix}url_queue_ttl`);
    await connection.close();
    await told.isBack(1);
    expect(told.lost[0]).toMatch(/url_queue_ttl: was the queue deleted\?$/);
    expect(consumer.consuming).toBe(true);
    expect(await transport.publish([message('a')])).toEqual(['confirmed']);
    await inbox.has(1);
  });

  test('consumers get later messages of a queue deleted and declared again at once, cancelled or not', async () => {
    const stalled: (readonly [string, number])[] = [];
    const onStalled = (queue: string, ready: number): void => void stalled.push([queue, ready]);
    const { transport, prefix } = await setup({ lookMs: 200, onStalled });
    const inbox = new Inbox();
    await transport.consume('normal', inbox.handler, { prefetch: 2 });
    await transport.publish(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map(message));
    await inbox.has(8);
    await declaredAgain(prefix);
    expect(await transport.publish(['i', 'j', 'k', 'l'].map(message))).toEqual(Array(4).fill('confirmed'));
    await inbox.has(12);
    expect(stalled.every(([queue]) => queue === 'normal')).toBe(true);
    await expect.poll(async () => (await transport.depths()).normal.ready).toBe(0);
  });

  test('a consumer gets messages stuck in a queue declared again once it has taken a new channel', async () => {
    const { transport, told, prefix } = await setup({ lookMs: 100, renewMs: 400 });
    const inbox = new Inbox();
    const consumer = await transport.consume('normal', inbox.handler, { prefetch: 4 });
    await transport.publish(['a', 'b', 'c', 'd'].map(message));
    await inbox.has(4);
    await declaredAgain(prefix);
    expect(await transport.publish(['e', 'f', 'g', 'h'].map(message))).toEqual(Array(4).fill('confirmed'));
    await inbox.has(8);
    expect(consumer.consuming).toBe(true);
    await sleep(1_000);
    expect(inbox.deliveries).toHaveLength(8);
    await expect.poll(async () => (await transport.depths()).normal).toEqual({ ready: 0, consumers: 1 });
    expect(told.lost.length).toBeLessThanOrEqual(1);
  });

  test('a consumer that keeps taking new channels gets each message once and can stop at any moment', async () => {
    const { transport, told } = await setup({ lookMs: 5, renewMs: 0 });
    const inbox = new Inbox();
    const consumer = await transport.consume('normal', inbox.handler, { prefetch: 3 });
    for (let i = 0; i < 100; i++) {
      await transport.publish([message(`m${i}`)]);
      await sleep(i % 13);
    }
    await inbox.has(100);
    expect(new Set(inbox.deliveries.map(({ id }) => id)).size).toBe(100);
    expect(inbox.deliveries).toHaveLength(100);
    await consumer.stop();
    await transport.publish([message('after')]);
    for (let i = 0; i < 20; i++) {
      const other = await transport.consume('priority', inbox.handler, { prefetch: 3 });
      await sleep(i);
      await other.stop();
    }
    await sleep(100);
    expect(inbox.deliveries).toHaveLength(100);
    expect((await transport.depths()).priority).toEqual({ ready: 0, consumers: 0 });
    expect((await transport.depths()).normal).toEqual({ ready: 1, consumers: 0 });
    expect(told.lost).toEqual([]);
  });

  test('a busy or idle consumer is not mistaken for a stalled one', async () => {
    const { transport, told } = await setup({ lookMs: 50 });
    const { promise: release, resolve } = Promise.withResolvers<'ack'>();
    const inbox = new Inbox(() => release);
    await transport.consume('normal', inbox.handler, { prefetch: 1 });
    await transport.publish(['a', 'b', 'c'].map(message));
    await inbox.has(1);
    await sleep(500);
    resolve('ack');
    await inbox.has(3);
    await sleep(500);
    expect(told.lost).toEqual([]);
    expect(inbox.deliveries.map(({ redelivered }) => redelivered)).toEqual([false, false, false]);
  });

  test('a queue declared differently is reported with the expected and actual values, and left unchanged', async () => {
    const { prefix } = await setup({ ttlMs: { ...QUEUE_TTL_MS, normal: 5_000 } });
    const transport = testTransport(URL_GIVEN, prefix);
    const failure = await transport.start().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ConfigurationError);
    expect((failure as ConfigurationError).problems).toEqual([
      `queue ${prefix}url_queue_ttl: expected x-message-ttl to be '3600000', found '5000'. Set QUEUE_PREFIX to use other names, or delete it once it is empty.`,
    ]);
    await transport.stop();
  });

  test.each([
    ['quorum', 'classic'],
    ['classic', 'quorum'],
  ] as const)('%s queues are refused when %s ones are configured', async (queueType, wanted) => {
    const { prefix } = await setup({ queueType });
    const transport = testTransport(URL_GIVEN, prefix, { queueType: wanted });
    const failure = await transport.start().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ConfigurationError);
    expect((failure as ConfigurationError).problems).toEqual([
      expect.stringMatching(
        new RegExp(
          `^queue ${prefix}priority_queue: expected x-queue-type to be '?${wanted}'?, found '?${queueType}'?\\. `,
        ),
      ),
    ]);
    await transport.stop();
  });

  test('an unreachable broker fails the first start, with an error that hides the password', async () => {
    const transport = testTransport('amqp://user:secret@127.0.0.1:1', uniquePrefix());
    const failure = await transport.start().catch((error: unknown) => error);
    expect(String(failure)).toContain('ECONNREFUSED');
    expect(String(failure)).not.toContain('secret');
    await transport.stop();
  });
});
