import type { Channel } from 'amqplib';
import { expect, onTestFinished, test, vi } from 'vitest';
import { lettersBack } from '../../../../shared/transports/rabbitmq/letters.ts';

/** A queue with a given number of messages at each check and a given duration of each; the last number stays. */
function queueOf(counts: readonly number[], eachMs: number) {
  let [looks, now] = [0, 0];
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
  onTestFinished(() => clock.mockRestore());
  const checkQueue = async () => {
    now += eachMs;
    return { messageCount: counts[Math.min(looks++, counts.length - 1)] };
  };
  return { channel: { checkQueue } as unknown as Channel, looks: () => looks };
}

test('letters that a busy broker takes back slowly are waited for as long as they come', async () => {
  const slow = queueOf([0, 0, 100, 100, 200, 300], 1_500);
  await lettersBack(slow.channel, 'failed_urls', 300);
  expect(slow.looks()).toBe(6);
});

test('letters that do not come back are not waited for', async () => {
  const expired = queueOf([0, 250], 500);
  await lettersBack(expired.channel, 'failed_urls', 300);
  expect(expired.looks()).toBe(6);
});
