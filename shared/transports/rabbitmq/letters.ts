import type { Channel, ConsumeMessage, Message } from 'amqplib';
import type { DeadLetterMessage, LetterJudge } from '../../ports/transport.ts';
import { UnavailableError } from '../../runtime/errors.ts';
import { partsOf } from '../../task/parts.ts';
import { allowedHeaders } from '../message-headers.ts';
import { movedOf } from './moved.ts';

/** Letters held at once. One by one, they would cost a round trip each: two minutes for a hundred thousand. */
const BATCH = 1_000;
/**
 * Acks between two commands that the queue answers. A channel passes only 32 on to a quorum queue at a time and holds back
 * the rest: if it closes, those are lost, and their letters come back.
 */
const ACKS_AT_ONCE = 24;
/** Once none has come back for this long, those that are missing are held by somebody else, or have expired. */
const BACK_WITHIN_MS = 2_000;
/** The longest wait for a next letter: of those counted, some may have expired, or somebody else holds them. */
const NONE_COME_MS = 1_000;

/** A message that is held, without its body: there may be a hundred thousand of them. */
type Held = Pick<Message, 'fields'>;

export interface SiftOptions {
  /** At most this many letters are read. */
  readonly most?: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Reads the letters that are in a queue now without consuming them: only those to be deleted are acked, and all others are
 * given back, one by one in their order. A quorum queue keeps that order exactly for a few dozen, and in long stretches
 * beyond that; given back as a whole, by closing the channel, they would be shuffled. The channel has to be the caller's
 * own.
 */
export async function siftLetters(
  channel: Channel,
  queue: string,
  judge: LetterJudge,
  { most = Number.POSITIVE_INFINITY, signal }: SiftOptions = {},
): Promise<number> {
  const { messageCount } = await channel.checkQueue(queue);
  const kept: Held[] = [];
  let carried: Message[] = [];
  let left = Math.min(messageCount, most);
  while (left > 0 && signal?.aborted !== true) {
    const count = Math.min(BATCH, left);
    const messages = [
      ...carried,
      ...(count > carried.length ? await take(channel, queue, count - carried.length) : []),
    ];
    carried = [];
    if (messages.length === 0) break;
    left -= messages.length;
    const fates = await judge(messages.map(letterOf));
    const gone = messages.filter((_, i) => fates[i] === 'delete');
    for (const [i, { fields }] of messages.entries()) if (fates[i] !== 'delete') kept.push({ fields });
    carried = await acked(channel, queue, gone, kept.length === 0);
  }
  for (const held of [...kept, ...carried]) channel.nack(held as Message, false, true);
  return kept.length + carried.length;
}

/** Resolves when this many letters are back in their queue, or no more come back, so that the next reader sees them. */
export async function lettersBack(channel: Channel, queue: string, count: number): Promise<void> {
  let back = -1;
  for (let until = 0; ; ) {
    const { messageCount } = await channel.checkQueue(queue);
    if (messageCount >= count) return;
    if (messageCount > back) until = performance.now() + BACK_WITHIN_MS;
    else if (performance.now() >= until) return;
    back = Math.max(back, messageCount);
  }
}

/**
 * Acks messages, and resolves when the queue has processed all acks: it has once it answers a `get` that was sent after them.
 * Returns the messages that such a `get` brought.
 */
async function acked(
  channel: Channel,
  queue: string,
  messages: readonly Message[],
  isAll: boolean,
): Promise<Message[]> {
  const brought: Message[] = [];
  const hear = async (): Promise<void> => {
    const message = await channel.get(queue);
    if (message !== false) brought.push(message);
  };
  const last = messages.at(-1);
  if (last !== undefined && isAll) {
    channel.ack(last, true);
    await hear();
    return brought;
  }
  for (const some of partsOf(messages, ACKS_AT_ONCE)) {
    for (const message of some) channel.ack(message);
    await hear();
  }
  return brought;
}

/** Takes up to `count` messages, by a consumer that exists only for that. */
async function take(channel: Channel, queue: string, count: number): Promise<ConsumeMessage[]> {
  const messages: ConsumeMessage[] = [];
  const { promise: taken, resolve, reject } = Promise.withResolvers<void>();
  const onClose = (): void =>
    reject(new UnavailableError('RabbitMQ closed the channel. All letters are still there: run it again.'));
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
    // If consuming failed, nobody awaits it.
    taken.catch(() => {});
  }
  return messages;
}

function letterOf({ content, properties }: Message): DeadLetterMessage {
  const moved = movedOf(properties.headers);
  return {
    id: properties.messageId,
    body: content,
    headers: allowedHeaders(properties.headers),
    ...(moved === undefined ? {} : { moved }),
  };
}
