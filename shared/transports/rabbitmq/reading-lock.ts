import { setTimeout as delay } from 'node:timers/promises';
import type { Channel } from 'amqplib';
import { UnavailableError } from '../../runtime/errors.ts';
import { close, isRefusal } from './closing.ts';
import type { LiveConnection } from './recovering-connection.ts';

/** Longest wait of one reader of a queue for another. */
const WAIT_MS = 10_000;
const RETRY_MS = 100;
/** Another connection has exclusive use of the queue. */
const RESOURCE_LOCKED = 405;

/**
 * Lets only one reader at a time hold messages of a queue to read them. A second reader would miss the messages that the first
 * one holds, and report them as gone.
 *
 * The lock is a queue named `<queue>.reading`, which only its connection can use and which is deleted with it (AMQP 0-9-1,
 * `queue.declare`, exclusive). So a process blocks nobody, however it ends.
 *
 * @throws UnavailableError when another reader still has the queue after ten seconds
 */
export async function whileReading<T>(live: LiveConnection, queue: string, use: () => Promise<T>): Promise<T> {
  const name = `${queue}.reading`;
  const channel = await locked(live, name);
  try {
    return await use();
  } finally {
    await unlock(channel, name);
  }
}

/** Takes the lock. Returns the channel that holds it. */
async function locked({ model }: LiveConnection, name: string): Promise<Channel> {
  const until = performance.now() + WAIT_MS;
  for (;;) {
    const channel = await model.createChannel();
    channel.on('error', () => {});
    try {
      // The type is explicit because a virtual host can have a default type that does not support exclusive queues.
      await channel.assertQueue(name, { exclusive: true, durable: false, arguments: { 'x-queue-type': 'classic' } });
      return channel;
    } catch (error: unknown) {
      if (!isRefusal(error, RESOURCE_LOCKED)) throw error;
      if (performance.now() > until) {
        throw new UnavailableError('Another command is reading the dead letters. Run this again when it has ended.');
      }
      await delay(RETRY_MS);
    }
  }
}

async function unlock(channel: Channel, name: string): Promise<void> {
  try {
    await channel.deleteQueue(name);
  } catch {
    // The connection is gone, and the queue with it.
  }
  await close(channel);
}
