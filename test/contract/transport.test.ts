import { describe, inject } from 'vitest';
import type { Destination } from '../../shared/ports/transport.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { LocalTransport } from '../../shared/transports/local.ts';
import { QUEUE_TTL_MS } from '../../shared/transports/rabbitmq/topology.ts';
import { LetterKeepingTransport } from '../support/stores/letter-keeping-transport.ts';
import { openLocalParts } from '../support/stores/local-parts.ts';
import { deleteTopology, testTransport, uniquePrefix } from '../support/stores/rabbitmq.ts';
import { describeDeadLetters } from './suites/dead-letters.contract.ts';
import { describeTransport } from './suites/transport.contract.ts';

describeTransport('in memory', async (ttlMs) => {
  const unstarted = () => new LocalTransport({ clock: systemClock, ttlMs: { ...QUEUE_TTL_MS, ...ttlMs } });
  const transport = unstarted();
  await transport.start();
  return { transport, other: transport, unstarted, close: () => transport.stop() };
});

describeDeadLetters('in SQLite', async () => {
  const { letters, database } = openLocalParts({ clock: systemClock, gatherMs: 5 });
  const transport = new LetterKeepingTransport({ clock: systemClock, ttlMs: QUEUE_TTL_MS, letters });
  const close = async (): Promise<void> => {
    await transport.stop();
    database.close();
  };
  return { transport, close };
});

describe.each(['quorum', 'classic'] as const)('%s queues', (queueType) => {
  const open = async (ttlMs: Partial<Record<Destination, number>> = {}) => {
    const url = inject('rabbitmqUrl');
    const prefix = uniquePrefix();
    const options = { queueType, ttlMs: { ...QUEUE_TTL_MS, ...ttlMs } };
    const unstarted = () => testTransport(url, prefix, options);
    const [transport, other] = [unstarted(), unstarted()];
    await transport.start();
    await other.start();
    const close = async (): Promise<void> => {
      await transport.stop();
      await other.stop();
      await deleteTopology(url, prefix);
    };
    return { transport, other, unstarted, close };
  };
  describeTransport('RabbitMQ', open);
  describeDeadLetters('RabbitMQ', open);
});
