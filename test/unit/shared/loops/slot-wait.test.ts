import { expect, test } from 'vitest';
import { type SlotResult, SlotWait } from '../../../../shared/loops/slot-wait.ts';
import { settled } from '../../../support/stores/embedded.ts';
import { openLocalParts } from '../../../support/stores/local-parts.ts';
import { SteppedClock } from '../../../support/stores/stepped-clock.ts';
import { withMethods } from '../../../support/with-methods.ts';
import { HOST, setup } from './slot-wait-setup.ts';

test('without limits, the gate is not asked', async () => {
  const { acquire, asked } = setup();
  const acquiring = acquire();
  await settled();
  expect([acquiring.result, asked]).toMatchObject([{ go: true }, []]);
});

test('a pause that admission saw is waited for, even without limits', async () => {
  const { acquire, gate, step } = setup();
  await gate.pause(HOST, 200, 'Retry-After');
  const acquiring = acquire('me', 200);
  await step(199);
  expect(acquiring.result).toBeUndefined();
  await step(1);
  expect(acquiring.result).toMatchObject({ go: true });
});

test('a slot that comes within 250 ms is waited for, and not a moment less', async () => {
  const { acquire, step } = setup({ intervalMs: 250 });
  const [first, second] = [acquire('first'), acquire('second')];
  await step(249);
  expect([first.result, second.result]).toMatchObject([{ go: true }, undefined]);
  await step(1);
  expect(second.result).toMatchObject({ go: true });
});

test('a slot that comes later belongs to the frontier', async () => {
  const { acquire } = setup({ intervalMs: 5_000 });
  acquire('first');
  const second = acquire('second');
  await settled();
  expect(second.result).toEqual({ go: false, inMs: 5_000 });
});

test('a host that is paused for long is not waited for', async () => {
  const { acquire, gate } = setup({ intervalMs: 100 });
  await gate.pause(HOST, 60_000, 'Retry-After');
  const acquiring = acquire();
  await settled();
  expect(acquiring.result).toEqual({ go: false, inMs: 60_000 });
});

// biome-ignore format: a table
test.each([
  [   20,     5, true],
  [   20,     6, false],
  [  100,    10, true],
  [  100,    11, false],
  [  200,    20, true],
  [  200,    21, false],
])('at one request in %i ms, a slot that is reached %i ms late is still good: %s', async (intervalMs, lateMs, isGood) => {
  const { acquire, step, asked } = setup({ intervalMs });
  acquire('first');
  const second = acquire('second');
  await step(intervalMs + lateMs);
  expect(asked.length, 'another slot is asked for').toBe(isGood ? 2 : 3);
  if (isGood) expect(second.result).toMatchObject({ go: true });
});

test('a worker that stood still does not fire the slots that it held', async () => {
  const { acquire, step } = setup({ intervalMs: 50 });
  const all = Array.from({ length: 6 }, (_, i) => acquire(`request ${i}`));
  await step(244);
  const gone = (): number => all.filter(({ result }) => result?.go === true).length;
  expect(gone(), 'the first one: four were missed').toBe(1);
  await step(6);
  expect(gone(), 'the last one was not').toBe(2);
  await step(50);
  expect(gone(), 'those that were missed go on at the pace').toBe(3);
});

test('a host that was paused meanwhile is asked for another slot', async () => {
  const { acquire, gate, step, asked } = setup({ intervalMs: 200 });
  acquire('first');
  const second = acquire('second');
  await step(100);
  await gate.pause(HOST, 200, 'Retry-After');
  await step(100);
  expect([second.result, asked.at(-1)]).toEqual([undefined, { granted: true, inMs: 200 }]);
  await step(200);
  expect(second.result).toMatchObject({ go: true });
});

test('a host that was paused for long meanwhile is left to the frontier', async () => {
  const { acquire, gate, step } = setup({ intervalMs: 200 });
  acquire('first');
  const second = acquire('second');
  await step(100);
  await gate.pause(HOST, 60_000, 'Retry-After');
  await step(100);
  expect(second.result).toEqual({ go: false, inMs: 59_900 });
});

test('a place that was granted is free again when its slot is then refused for a pause', async () => {
  const { acquire, gate, limit, step } = setup({ intervalMs: 100, concurrency: 2 });
  await gate.ask(HOST, limit, 'gone');
  await gate.leave(HOST, limit, 'gone');
  const [first, second] = [acquire('first'), acquire('second')];
  await settled();
  await gate.pause(HOST, 60_000, 'Retry-After');
  await step(250);
  expect([first.result?.go, second.result?.go]).toEqual([false, false]);
  await gate.resume(HOST);
  const [third, fourth] = [acquire('third'), acquire('fourth')];
  await step(50);
  await step(100);
  expect([third.result, fourth.result]).toMatchObject([{ go: true }, { go: true }]);
});

test('a place that was granted is free again when the gate then fails', async () => {
  const { clock, gate, abort, step } = setup();
  const limit = { intervalMs: 100, concurrency: 2 };
  await gate.ask(HOST, limit, 'first');
  await gate.leave(HOST, limit, 'first');
  const broken = withMethods(gate, { stillOpen: () => Promise.reject(new Error('Redis is away')) });
  const acquiring = new SlotWait({ gate: broken, clock }).tryAcquire({
    host: HOST,
    holder: 'me',
    limit,
    pausedMs: 0,
    signal: abort.signal,
  });
  const failed = expect(acquiring).rejects.toThrow('Redis is away');
  await step(100);
  await failed;
  for (const other of ['one', 'two']) expect(await gate.ask(HOST, limit, other)).toMatchObject({ granted: true });
});

test('a place is waited for as long as it may take, at most 250 ms in all', async () => {
  const { acquire, gate, limit, step, asked } = setup({ concurrency: 1 });
  await gate.ask(HOST, limit, 'somebody else');
  const [lucky, unlucky] = [acquire('lucky'), acquire('unlucky')];
  await step(100);
  expect([lucky.result, unlucky.result]).toEqual([undefined, undefined]);
  await gate.leave(HOST, limit, 'somebody else', { durationMs: 20 });
  await step(100);
  expect([lucky.result, unlucky.result]).toMatchObject([{ go: true }, undefined]);
  for (let waitedMs = 200; waitedMs <= 250; waitedMs += 10) await step(10);
  expect(unlucky.result).toEqual({ go: false, inMs: 20 });
  expect(asked.length, 'nobody asks while this process has all places').toBeLessThan(15);
});

test('the machine’s clock is set back meanwhile: a place is waited for no longer', async () => {
  const { acquire, clock, gate, limit, step } = setup({ concurrency: 1 });
  await gate.ask(HOST, limit, 'somebody else');
  const both = [acquire('first'), acquire('second')];
  await step(100);
  clock.set(-86_400_000);
  for (let waitedMs = 100; waitedMs <= 250; waitedMs += 10) await step(10);
  expect(both.map(({ result }) => result)).toEqual(Array(2).fill({ go: false, inMs: expect.any(Number) }));
});

test('a machine that slept, which its monotonic clock does not see, does not fire the slot that it held', async () => {
  const { acquire, asked, clock, gate, limit, step } = setup({ intervalMs: 200 });
  await gate.ask(HOST, limit, 'somebody else');
  const mine = acquire();
  await step(100);
  clock.set(60_000);
  await step(100);
  expect(asked.length, 'it has asked for another').toBe(2);
  expect(mine.result).toMatchObject({ go: true });
});

test('of the requests that wait for a place, one asks for all, and they go in order of arrival', async () => {
  const { acquire, gate, limit, step, asked } = setup({ concurrency: 1 });
  await gate.ask(HOST, limit, 'quick');
  await gate.leave(HOST, limit, 'quick', { durationMs: 10 });
  await gate.ask(HOST, limit, 'somebody else');
  const all = Array.from({ length: 12 }, (_, n) => acquire(`request ${n}`));
  for (let ms = 0; ms < 100; ms += 10) await step(10);
  expect(asked.length, 'each once, and in 100 ms one of them again and again').toBeLessThanOrEqual(25);
  const before = asked.length;
  const order: number[] = [];
  await gate.leave(HOST, limit, 'somebody else', { durationMs: 10 });
  for (let ms = 0; ms < 100; ms += 10) {
    await step(10);
    for (const [n, { result }] of all.entries()) {
      if (result?.go !== true || order.includes(n)) continue;
      order.push(n);
      await result.turn.over();
    }
  }
  expect(order.length).toBeGreaterThanOrEqual(4);
  expect(order).toEqual(order.toSorted((a, b) => a - b));
  expect((asked.length - before) / order.length, 'questions a request').toBeLessThanOrEqual(3);
});

test('a place that a request of this process leaves is taken at once, by the next in line', async () => {
  const { acquire, asked } = setup({ concurrency: 2 });
  const all: { result?: SlotResult }[] = [];
  for (let n = 0; n < 6; n++) {
    all.push(acquire(`request ${n}`));
    await settled();
  }
  const gone = (): number[] => all.flatMap(({ result }, n) => (result?.go === true ? [n] : []));
  expect(gone()).toEqual([0, 1]);
  for (let n = 0; n < 4; n++) {
    const { result } = all[n] ?? {};
    if (result?.go === true) await result.turn.over();
    await settled();
    expect(gone().length, 'the clock stands still').toBe(n + 3);
  }
  expect(gone()).toEqual([0, 1, 2, 3, 4, 5]);
  expect(asked.length, 'questions: one each, and one more of the first in line').toBe(all.length + 1);
});

test('a request that gives its place back without having gone makes room for the next one', async () => {
  const { acquire, gate, limit, step } = setup({ intervalMs: 100, concurrency: 1 });
  await gate.ask(HOST, limit, 'gone');
  await gate.leave(HOST, limit, 'gone');
  const first = acquire('first');
  await settled();
  const second = acquire('second');
  await step(50);
  await gate.pause(HOST, 60_000, 'Retry-After');
  await step(50);
  await settled();
  expect([first.result, second.result]).toEqual([
    { go: false, inMs: 59_950 },
    { go: false, inMs: 59_950 },
  ]);
});

test('a slow host all of whose places this process holds is left to the frontier at once', async () => {
  const { acquire, gate, limit } = setup({ concurrency: 1 });
  await gate.ask(HOST, limit, 'gone');
  await gate.leave(HOST, limit, 'gone', { durationMs: 4_000 });
  acquire('first');
  await settled();
  const second = acquire('second');
  await settled();
  expect(second.result, 'the clock stands still').toEqual({ go: false, inMs: 4_000 });
});

test('a place of a request that never left is given again when its lease ends', async () => {
  const { acquire, gate, limit, step } = setup({ concurrency: 1 });
  await gate.ask(HOST, limit, 'gone');
  await gate.leave(HOST, limit, 'gone', { durationMs: 20 });
  acquire('lost');
  await step(0);
  const taken: (SlotResult | undefined)[] = [];
  for (let n = 0; n < 2; n++) {
    await step(120_000);
    const next = acquire(`request ${n}`);
    await step(0);
    for (let ms = 0; ms < 250; ms += 10) await step(10);
    taken.push(next.result);
    if (next.result?.go === true) await next.result.turn.over();
  }
  expect(taken).toMatchObject([{ go: true }, { go: true }]);
});

test('the gate is asked again at once if a place was left while it was being asked', async () => {
  const clock = new SteppedClock();
  const { gate } = openLocalParts({ clock });
  const limit = { intervalMs: 0, concurrency: 2 };
  const { signal } = new AbortController();
  const gates: (() => void)[] = [];
  let isSlow = false;
  const slow = withMethods(gate, {
    ask: async (...args) => {
      const grant = await gate.ask(...args);
      if (isSlow) await new Promise<void>((resolve) => void gates.push(resolve));
      return grant;
    },
  });
  const slots = new SlotWait({ gate: slow, clock });
  const others = await gate.ask(HOST, limit, 'somebody else');
  const mine = await slots.tryAcquire({ host: HOST, holder: 'mine', limit, signal });
  expect([others.granted, mine.go]).toEqual([true, true]);
  isSlow = true;
  let result: SlotResult | undefined;
  void slots.tryAcquire({ host: HOST, holder: 'next', limit, signal }).then((got) => {
    result = got;
  });
  await settled();
  // It was refused, and hasn't heard of that yet.
  if (mine.go) await mine.turn.over();
  isSlow = false;
  for (const open of gates) open();
  await settled();
  expect(result, 'the clock stands still').toMatchObject({ go: true });
});

test('told to stop while it waits, it gives its place back', async () => {
  const { acquire, gate, limit, abort } = setup({ intervalMs: 200, concurrency: 2 });
  acquire('first');
  const second = acquire('second');
  await settled();
  abort.abort();
  await settled();
  expect(second.result).toEqual({ go: false, inMs: 0 });
  expect(await gate.ask(HOST, { ...limit, intervalMs: 0 }, 'third')).toMatchObject({ granted: true });
});

test('a request whose worker died takes over its place at once, ahead of those in line', async () => {
  const { acquire, gate, limit } = setup({ concurrency: 1 });
  await gate.ask(HOST, limit, 'of the dead');
  const waiting = acquire('waiting');
  await settled();
  const again = acquire('of the dead', 0, true);
  await settled();
  expect([waiting.result, again.result]).toMatchObject([undefined, { go: true }]);
});

test('told to stop while it waits for a place, it goes at once', async () => {
  const { acquire, gate, limit, abort } = setup({ concurrency: 1 });
  await gate.ask(HOST, limit, 'somebody else');
  const acquiring = acquire();
  await settled();
  abort.abort();
  await settled();
  expect(acquiring.result).toMatchObject({ go: false });
});

test('a gate that can not answer lets nobody through', async () => {
  const { gate, clock, limit, abort } = setup({ intervalMs: 100 });
  const broken = withMethods(gate, { ask: () => Promise.reject(new Error('Redis is away')) });
  const acquiring = new SlotWait({ gate: broken, clock }).tryAcquire({
    host: HOST,
    holder: 'me',
    limit,
    pausedMs: 0,
    signal: abort.signal,
  });
  await expect(acquiring).rejects.toThrow('Redis is away');
});
