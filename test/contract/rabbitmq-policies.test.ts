import { randomUUID } from 'node:crypto';
import { connect } from 'amqplib';
import { expect, inject, onTestFinished, test } from 'vitest';
import { deleteTopology, testTransport, uniquePrefix } from '../support/stores/rabbitmq.ts';

const URL_GIVEN = inject('rabbitmqUrl');

test('a dead letter moved by the broker says from where, why and when; a published one does not', async () => {
  const prefix = uniquePrefix();
  const transport = testTransport(URL_GIVEN, prefix);
  await transport.start();
  const connection = await connect(URL_GIVEN);
  onTestFinished(async () => {
    await connection.close();
    await transport.stop();
    await deleteTopology(URL_GIVEN, prefix);
  });
  // Arguments that a policy might set on Trawl's queues, here on a queue of this test alone.
  const queue = `${prefix}${randomUUID()}`;
  const channel = await connection.createChannel();
  const dead = { 'x-dead-letter-exchange': `${prefix}failed_exchange`, 'x-dead-letter-routing-key': 'failed' };
  await channel.assertQueue(queue, { exclusive: true, arguments: { 'x-message-ttl': 1, ...dead } });
  await transport.publish([{ to: 'failed', id: 'published', body: '{}', headers: {} }]);
  channel.sendToQueue(queue, Buffer.from('{}'), { messageId: 'moved', headers: { 'x-release': 7 } });
  await expect.poll(async () => (await transport.depths()).failed.ready).toBe(2);
  expect((await transport.browse(9)).map(({ id, headers, moved }) => ({ id, headers, moved }))).toEqual([
    { id: 'published', headers: {} },
    { id: 'moved', headers: { 'x-release': 7 }, moved: { from: queue, why: 'expired', at: expect.any(Number) } },
  ]);
});
