import { randomBytes } from 'node:crypto';
import { connect } from 'amqplib';
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
