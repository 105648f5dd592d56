import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type SlotResult, SlotWait } from '../../../../shared/loops/slot-wait.ts';
import { settled } from '../../../support/stores/embedded.ts';
import { openLocalParts } from '../../../support/stores/local-parts.ts';
import { SteppedClock } from '../../../support/stores/stepped-clock.ts';
import { withMethods } from '../../../support/with-methods.ts';

const HOST = 'a.test';

// What is sent at once is no later than its turn.
beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

/** Somebody waits for a slot of a gate whose answers, and whose last looks at the host, arrive when the test says so. */
function setup(intervalMs: number) {
  const clock = new SteppedClock();
  const { gate } = openLocalParts({ clock });
  const limit = { intervalMs, concurrency: 0 };
  const [answers, looks]: [(() => void)[], (() => void)[]] = [[], []];
  const slow = withMethods(gate, {
    ask: async (...args) => {
      const grant = await gate.ask(...args);
      await new Promise<void>((resolve) => answers.push(resolve));
      return grant;
    },
    stillOpen: async (host) => {
      await new Promise<void>((resolve) => looks.push(resolve));
      return await gate.stillOpen(host);
    },
  });
  const result: SlotResult[] = [];
  const { signal } = new AbortController();
  const arrives = async (waiting: (() => void)[]): Promise<void> => {
    waiting.shift()?.();
    await settled();
  };
  return {
    result,
    /** Another request has the host's first slot. */
    takeFirstSlot: async (): Promise<void> => void (await gate.ask(HOST, limit, 'other')),
    acquire: (): void => {
      const acquiring = new SlotWait({ gate: slow, clock }).tryAcquire({
        host: HOST,
        holder: 'me',
        limit,
        pausedMs: 0,
        signal,
      });
      void acquiring.then((it) => result.push(it));
    },
    answer: () => arrives(answers),
    look: () => arrives(looks),
    nextSlotInMs: async (): Promise<number> => (await gate.ask(HOST, limit, 'next')).inMs,
    async step(ms: number): Promise<void> {
      await settled();
      clock.step(ms);
      await settled();
    },
  };
}

test('a grant that takes long to arrive is dropped, and another slot is requested', async () => {
  const { result, acquire, answer, step } = setup(150);
  acquire();
  await step(200);
  await answer();
  expect(result).toEqual([]);
  await answer();
  expect(result).toMatchObject([{ go: true }]);
});

// biome-ignore format: a table
test.each([
  [  100,   0, 100, true],
  [  100,   0, 101, false],
  [  100,  80,  20, true],
  [  100,  80,  21, false],
  [  200,   0, 101, false],
  [  200,  80, 100, true],
  // No machine keeps such an interval to the millisecond.
  [   20,  80,  20, true],
  [   20,  80,  21, false],
])('at one request in %i ms, an answer %i ms late and the last look %i ms late: %s', async (intervalMs, answerMs, lookMs, isGood) => {
  const { result, takeFirstSlot, acquire, answer, look, step } = setup(intervalMs);
  await takeFirstSlot();
  acquire();
  await step(answerMs);
  await answer();
  // The rest of the wait: the answer said how long from the moment of the gate.
  await step(intervalMs);
  await step(lookMs);
  await look();
  expect(result.some(({ go }) => go)).toBe(isGood);
});

test.each([
  [60, 20, 920],
  [60, 40, 900],
  [60, 41, 900],
  [90, 90, 900],
])(
  'at one request a second, an answer %i ms late and the last look %i ms late: the next slot is in %i ms',
  async (answerMs, lookMs, nextMs) => {
    const { result, takeFirstSlot, acquire, answer, look, step, nextSlotInMs } = setup(1_000);
    await takeFirstSlot();
    await step(800);
    acquire();
    await step(answerMs);
    await answer();
    await step(200);
    await step(lookMs);
    await look();
    const [slot] = result;
    if (slot?.go !== true) throw new Error('no turn');
    slot.turn.timings.onSent();
    expect(await nextSlotInMs()).toBe(nextMs);
  },
);
