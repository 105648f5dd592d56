import type { Channel, ConsumeMessage } from 'amqplib';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { UnavailableError } from '../../../../shared/runtime/errors.ts';
import { siftLetters } from '../../../../shared/transports/rabbitmq/letters.ts';

/**
 * The queue of a busy broker: consumers of these turns get nothing, as a real one does while it writes its log to a slow disk.
 *
 * @param held letters of an earlier reader, which are back once a command has been answered
 */
function busyQueue(size: number, silentTurns: (turn: number) => boolean, held = 0) {
  let [tag, turn, expired, away] = [0, 0, false, held];
  const letter = (): ConsumeMessage =>
    ({ content: Buffer.from('{}'), fields: { deliveryTag: ++tag }, properties: {} }) as ConsumeMessage;
  const returned: number[] = [];
  const channel = {
    checkQueue: async () => ({ queue: 'q', messageCount: expired ? 0 : size - away - tag, consumerCount: 0 }),
    get: async () => {
      away = 0;
      return expired || tag === size ? false : letter();
    },
    prefetch: async (most: number) => {
      room = most;
    },
    consume: async (_: string, take: (message: ConsumeMessage) => void) => {
      if (!silentTurns(turn++) && !expired) for (let left = room; left > 0 && tag < size; left--) take(letter());
      return { consumerTag: 'c' };
    },
    cancel: async () => {},
    nack: ({ fields: { deliveryTag } }: ConsumeMessage) => void returned.push(deliveryTag),
    once: () => {},
    off: () => {},
  };
  let room = 0;
  return { channel: channel as unknown as Channel, returned, expire: () => (expired = true) };
}

/** Reads all letters while time passes, and returns how many were read. */
async function readAll({ channel }: ReturnType<typeof busyQueue>): Promise<number> {
  let read = 0;
  const sifting = siftLetters(channel, 'q', async (letters) => {
    read += letters.length;
    return [];
  });
  sifting.catch(() => {});
  await vi.advanceTimersByTimeAsync(60_000);
  await sifting;
  return read;
}

beforeEach(() => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
});

test('a broker that delivers nothing for seconds is waited for, and every letter is read and returned', async () => {
  const queue = busyQueue(3_500, (turn) => turn >= 1 && turn <= 10);
  expect(await readAll(queue)).toBe(3_500);
  expect(queue.returned).toEqual(Array.from({ length: 3_500 }, (_, n) => n + 1));
});

test('a broker that delivers no more although it has letters is reported, instead of an end that is none', async () => {
  const queue = busyQueue(3_500, (turn) => turn >= 2);
  const reading = readAll(queue);
  await expect(reading).rejects.toThrow(UnavailableError);
  await expect(reading).rejects.toThrow('RabbitMQ delivers none of the 1500 dead letters that are still to be read');
});

test('letters that have expired since they were counted, or that somebody else holds, are not waited for', async () => {
  const queue = busyQueue(3_500, () => false);
  const reading = readAll(queue);
  queue.expire();
  // One was taken before.
  expect(await reading).toBe(1);
});

test('letters that an earlier reader held are read too, even if the queue takes long to take them back', async () => {
  const queue = busyQueue(3_500, () => false, 3_000);
  expect(await readAll(queue)).toBe(3_500);
});

test.each([
  { most: 1_000, whole: 3_500 },
  { most: 9_000, whole: 3_500 },
])('when $most letters at most were read, all in the queue are expected back, read or not', async ({ most, whole }) => {
  const { channel, returned } = busyQueue(3_500, () => false);
  expect(await siftLetters(channel, 'q', async () => [], { most })).toBe(whole);
  expect(returned).toHaveLength(Math.min(most, whole));
});
