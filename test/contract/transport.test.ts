import { describe, inject } from 'vitest';
import { systemClock } from '../../shared/runtime/clock.ts';
import { LocalTransport } from '../../shared/transports/local.ts';
import { QUEUE_TTL_MS } from '../../shared/transports/rabbitmq/topology.ts';
import { deleteTopology, testTransport, uniquePrefix } from '../support/rabbitmq.ts';
import { describeTransport } from './transport.contract.ts';

describeTransport('in memory', async (ttlMs) => {
  const transport = new LocalTransport({ clock: systemClock, ttlMs: { ...QUEUE_TTL_MS, ...ttlMs } });
  return { transport, other: transport, close: () => transport.stop() };
});

describe.each(['quorum', 'classic'] as const)('%s queues', (queueType) => {
  describeTransport('RabbitMQ', async (ttlMs) => {
    const url = inject('rabbitmqUrl');
    const prefix = uniquePrefix();
    const options = { queueType, ttlMs: { ...QUEUE_TTL_MS, ...ttlMs } };
    const [transport, other] = [testTransport(url, prefix, options), testTransport(url, prefix, options)];
    await transport.start();
    await other.start();
    const close = async (): Promise<void> => {
      await transport.stop();
      await other.stop();
      await deleteTopology(url, prefix);
    };
    return { transport, other, close };
  });
});
