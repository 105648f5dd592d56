import type { Channel, ConsumeMessage } from 'amqplib';
import type { DeadLetterMessage, LetterJudge } from '../transport.ts';
import { allowedHeaders } from './message-headers.ts';

/** Letters in hand at once. One by one they would cost a round trip each: two minutes for a hundred thousand. */
const BATCH = 1_000;
/** Fewer letters than were counted: some expired, or somebody else holds them. */
const NONE_COME_MS = 1_000;

interface SiftOptions {
  /** At most so many letters are looked at. */
  readonly most?: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Reads the letters that are in a queue now without consuming them: nothing is acked but what shall go, and all others are
 * given back, one by one in their order. A quorum queue keeps that order exactly for a few dozen, and in long stretches
 * beyond; given back as a whole, by closing the channel, they would be shuffled. The channel has to be the caller's own.
 */
export async function siftLetters(
  channel: Channel,
  queue: string,
  judge: LetterJudge,
  { most = Number.POSITIVE_INFINITY, signal }: SiftOptions = {},
): Promise<void> {
  const { messageCount } = await channel.checkQueue(queue);
  const kept: ConsumeMessage[] = [];
  let left = Math.min(messageCount, most);
  while (left > 0 && signal?.aborted !== true) {
    const messages = await take(channel, queue, Math.min(BATCH, left));
    if (messages.length === 0) return;
    left -= messages.length;
    const fates = await judge(messages.map(letterOf));
    for (const [i, message] of messages.entries()) {
      if (fates[i] === 'delete') channel.ack(message);
      else kept.push(message);
    }
  }
  for (const message of kept) channel.nack(message, false, true);
}

/** Has up to `count` messages handed over by a consumer that lasts as long as that. */
async function take(channel: Channel, queue: string, count: number): Promise<ConsumeMessage[]> {
  const messages: ConsumeMessage[] = [];
  const { promise: taken, resolve, reject } = Promise.withResolvers<void>();
  const onClose = (): void => reject(new Error('RabbitMQ closed the channel'));
  channel.once('close', onClose);
  const idle = setTimeout(resolve, NONE_COME_MS);
  try {
    await channel.prefetch(count);
    const { consumerTag } = await channel.consume(queue, (message) => {
      if (message === null) return onClose();
      messages.push(message);
      idle.refresh();
      if (messages.length >= count) resolve();
    });
    await taken;
    await channel.cancel(consumerTag);
  } finally {
    clearTimeout(idle);
    channel.off('close', onClose);
    // Where consuming failed, nobody waits for it.
    taken.catch(() => {});
  }
  return messages;
}

function letterOf({ content, properties }: ConsumeMessage): DeadLetterMessage {
  return { id: properties.messageId, body: content, headers: allowedHeaders(properties.headers) };
}
