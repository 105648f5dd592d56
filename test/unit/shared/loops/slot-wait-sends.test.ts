import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { SlotResult } from '../../../../shared/loops/slot-wait.ts';
import type { Turn } from '../../../../shared/loops/turn.ts';
import { HOST, setup } from './slot-wait-setup.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

type Acquiring = { readonly result?: SlotResult };

function turnOf({ result }: Acquiring): Turn {
  if (result?.go !== true) throw new Error(`expected a turn, got ${JSON.stringify(result)}`);
  return result.turn;
}

/** Times at which a request of a host, asked for 200 ms ahead of each slot like a page's, may be sent; the first one at 0. */
async function starts(intervalMs: number, begin: (turn: Turn, after: (ms: number, act: () => void) => void) => void) {
  const { acquire, step, clock } = setup({ intervalMs });
  const acts: { readonly at: number; readonly act: () => void }[] = [];
  const began = clock.now();
  const after = (ms: number, act: () => void): void => void acts.push({ at: clock.now() - began + ms, act });
  const first = acquire();
  await step(0);
  begin(turnOf(first), after);
  const times: number[] = [];
  let next: Acquiring | undefined;
  const stepMs = intervalMs / 20;
  for (let ms = stepMs; ms <= 4 * intervalMs; ms += stepMs) {
    vi.advanceTimersByTime(stepMs);
    await step(stepMs);
    for (const due of acts.splice(0)) due.at <= ms ? due.act() : acts.push(due);
    await step(0);
    if (next?.result?.go === true) {
      turnOf(next).timings.onSent();
      times.push(ms);
      next = undefined;
    } else if (next?.result !== undefined) next = undefined;
    if (next === undefined && Math.round(ms / stepMs) % 20 === 16) next = acquire(`at ${ms}`);
  }
  return times;
}

test('a request that is sent at once is followed after an interval', async () => {
  expect(await starts(1_000, (turn) => turn.timings.onSent())).toEqual([1_000, 2_000, 3_000, 4_000]);
});

test('a request that is sent so late that the next slot is already granted is not followed at once', async () => {
  const times = await starts(1_000, (turn, after) => after(900, () => turn.timings.onSent()));
  expect(times).toEqual([2_000, 3_000, 4_000]);
});

test('a request that is still unsent when the next slot comes is not sent together with the next', async () => {
  const times = await starts(1_000, (turn, after) => after(1_500, () => turn.timings.onSent()));
  expect(times[0], 'nine tenths of an interval later').toBeGreaterThanOrEqual(2_400);
});

test('a request that cannot be sent, since nobody can connect to its host, holds back the next for one slot', async () => {
  expect(await starts(1_000, () => {})).toEqual([2_000, 3_000, 4_000]);
});

test('a request that ends unsent holds back none', async () => {
  const times = await starts(1_000, (turn, after) => after(500, () => void turn.over({ isFailure: true })));
  expect(times).toEqual([1_000, 2_000, 3_000, 4_000]);
});

test('a host that closes its connections is as late each time, and keeps its pace', async () => {
  const { acquire, step } = setup({ intervalMs: 1_000 });
  const first = acquire();
  await step(0);
  const turn = turnOf(first);
  turn.timings.onSent();
  turn.timings.isClosing = true;
  await turn.over();
  for (const n of [1, 2]) {
    await step(800);
    const next = acquire(`request ${n}`);
    await step(200);
    turnOf(next);
  }
});

test('a host that is asked several times a second is not held back: its next slot is granted before a request is sent', async () => {
  const times = await starts(400, () => {});
  expect(times.slice(0, 2)).toEqual([400, 800]);
});

test('another host is not held back', async () => {
  const { acquire, slots, limit, abort, step } = setup({ intervalMs: 1_000 });
  acquire();
  await step(0);
  const other = { host: `other.${HOST}`, holder: 'x', limit, pausedMs: 0, signal: abort.signal };
  expect(await slots.tryAcquire(other)).toMatchObject({ go: true });
});
