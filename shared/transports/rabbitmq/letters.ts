import type { Channel, ConsumeMessage, Message } from 'amqplib';
import type { DeadLetterMessage, LetterJudge } from '../../ports/transport.ts';
import { UnavailableError } from '../../runtime/errors.ts';
import { partsOf } from '../../task/parts.ts';
import { allowedHeaders } from '../message-headers.ts';
import { movedOf } from './moved.ts';

/** Number of letters taken at once. One by one, each would cost a round trip: two minutes for a hundred thousand. */
const BATCH = 1_000;
/**
 * Number of acks between two commands that the queue answers. A channel passes only 32 acks at a time to a quorum queue and
 * holds back the rest. If it closes, the rest are lost, and their letters come back.
 */
const ACKS_AT_ONCE = 24;
/**
 * If no letter has come back for this long, the missing ones have expired, or the broker is busy. Then the next reader waits for them: see
 * {@link siftLetters}.
 */
const BACK_WITHIN_MS = 2_000;
/** Longest wait for the next letter. Some of those counted may have expired, or someone else holds them. Or the broker is busy. */
const NONE_COME_MS = 1_000;
/** Waits in a row after which a queue that has ready letters counts as stalled. A busy broker delivers none for some seconds now and then. */
const MOST_WAITS = 30;

export interface SiftOptions {
  /** Maximum number of letters to read. */
  readonly most?: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Reads the letters in a queue without consuming them. Acks only the ones to delete, and returns all others one by one, in order.
 * A quorum queue keeps that order exactly for a few dozen letters, and in long stretches beyond that. Closing the channel would
 * return them all at once, but shuffled. The channel must not be used for anything else.
 *
 * Begins once the queue has taken back all that earlier readers held, also those that were killed: the answer to a `get` shows it, since
 * the queue processes it after their ends. Merely counted, letters that are yet to come back would be missed.
 *
 * @returns the number of letters that will be in the queue once those returned are back; 0 if none were returned
 * @throws UnavailableError if the queue stops delivering although it has more
 */
export async function siftLetters(
  channel: Channel,
  queue: string,
  judge: LetterJudge,
  { most = Number.POSITIVE_INFINITY, signal }: SiftOptions = {},
): Promise<number> {
  const first = await channel.get(queue);
  let carried: Message[] = first === false ? [] : [first];
  const { messageCount } = await channel.checkQueue(queue);
  // Of the letters to return only the tags are held, since there can be a million of them.
  const kept: number[] = [];
  let left = Math.min(messageCount + carried.length, most);
  let waits = 0;
  while (left > 0 && signal?.aborted !== true) {
    const count = Math.min(BATCH, left);
    const messages = [
      ...carried,
      ...(count > carried.length ? await take(channel, queue, count - carried.length) : []),
    ];
    carried = [];
    if (messages.length === 0) {
      const { messageCount: ready } = await channel.checkQueue(queue);
      if (ready === 0) break;
      if (++waits === MOST_WAITS) throw stalled(ready);
      continue;
    }
    waits = 0;
    left -= messages.length;
    const fates = await judge(messages.map(letterOf));
    const gone = messages.filter((_, i) => fates[i] === 'delete');
    for (const [i, { fields }] of messages.entries()) if (fates[i] !== 'delete') kept.push(fields.deliveryTag);
    carried = await acked(channel, queue, gone, kept.length === 0);
  }
  for (const { fields } of carried) kept.push(fields.deliveryTag);
  if (kept.length === 0) return 0;
  const { messageCount: others } = await channel.checkQueue(queue);
  // The client reads nothing else of a message.
  for (const deliveryTag of kept) channel.nack({ fields: { deliveryTag } } as Message, false, true);
  return others + kept.length;
}

function stalled(ready: number): UnavailableError {
  return new UnavailableError(
    `RabbitMQ delivers none of the ${ready} dead letters that are still to be read. Those not deleted are still there: run it again.`,
  );
}

/** Resolves when this many letters are in their queue again, or when no more come back for some time, so that whoever counts them sees all. */
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
 * Acks messages, and resolves when the queue has processed all acks, which a `get` sent after them shows once it is answered.
 * Returns the messages that these `get`s brought.
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

/** Takes up to `count` messages, with a temporary consumer. */
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
    // If `consume` has failed, nobody awaits this promise.
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
