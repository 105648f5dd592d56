import { randomUUID } from 'node:crypto';
import { connect } from 'amqplib';
import { expect, inject, onTestFinished, test } from 'vitest';
import { deleteTopology, testTransport, uniquePrefix } from '../support/stores/rabbitmq.ts';

const URL_GIVEN = inject('rabbitmqUrl');

test('a letter that the broker has moved says from where, why and when; any other says nothing', async () => {
  const prefix = uniquePrefix();
  const transport = testTransport(URL_GIVEN, prefix);
  await transport.start();
  const connection = await connect(URL_GIVEN);
  onTestFinished(async () => {
    await connection.close();
    await transport.stop();
    await deleteTopology(URL_GIVEN, prefix);
  });
  // What a policy sets on one of Trawl's queues, on a queue that only this test has.
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
