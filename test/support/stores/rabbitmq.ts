import { randomBytes } from 'node:crypto';
import { connect } from 'amqplib';
import { inject, onTestFinished } from 'vitest';
import { QUEUE_TTL_MS, topology } from '../../../shared/transports/rabbitmq/topology.ts';
import { type RabbitMqOptions, RabbitMqTransport } from '../../../shared/transports/rabbitmq/transport.ts';

/** Creates a transport for tests, with prefixed queues and events that are ignored. */
export function testTransport(url: string, prefix: string, options: Partial<RabbitMqOptions> = {}): RabbitMqTransport {
  return new RabbitMqTransport({
    url,
    prefix,
    queueType: 'quorum',
    name: 'trawl test',
    heartbeatSeconds: 5,
    window: 500,
    onLost: () => {},
    onRestored: () => {},
    onBlocked: () => {},
    onStalled: () => {},
    onRefusing: () => {},
    ...options,
  });
}

export function uniquePrefix(): string {
  return `t${randomBytes(6).toString('hex')}.`;
}

/** Deletes the queues and exchanges that a test declared. */
export async function deleteTopology(url: string, prefix: string): Promise<void> {
  const connection = await connect(url);
  const channel = await connection.createChannel();
  for (const { name, exchange } of topology(prefix, 'quorum', QUEUE_TTL_MS)) {
    await channel.deleteQueue(name);
    await channel.deleteExchange(exchange);
  }
  await connection.close();
}

/**
 * Copies every message that is published to declared exchanges from now on, until the end of the test.
 *
 * @returns a function that takes the copies so far, each as the text of its properties, headers and body
 */
export async function tapPublished(prefix: string): Promise<() => Promise<string[]>> {
  const connection = await connect(inject('rabbitmqUrl'));
  onTestFinished(() => connection.close());
  const channel = await connection.createChannel();
  const { queue } = await channel.assertQueue('', { exclusive: true });
  for (const { exchange, routingKey } of topology(prefix, 'quorum', QUEUE_TTL_MS))
    await channel.bindQueue(queue, exchange, routingKey);
  return async () => {
    const texts: string[] = [];
    for (;;) {
      const message = await channel.get(queue, { noAck: true });
      if (message === false) return texts;
      texts.push(JSON.stringify(message.properties) + message.content.toString());
    }
  };
}
