import { expect, test } from 'vitest';
import { HOST, setup } from './slot-wait-setup.ts';

test('a patient request waits for a pause to end, however long, and checks it every two seconds', async () => {
  const { slots, gate, limit, abort, asked, step } = setup({ intervalMs: 1_000 });
  await gate.pause(HOST, 5_000, 'Retry-After');
  let isOver = false;
  void slots.acquire({ host: HOST, holder: 'me', limit, signal: abort.signal }).then(() => {
    isOver = true;
  });
  for (const ms of [2_000, 2_000, 999]) await step(ms);
  expect([isOver, asked.length]).toEqual([false, 3]);
  await step(1);
  expect([isOver, asked.length]).toEqual([true, 4]);
});

test('a patient request waits for a place, however long', async () => {
  const { slots, gate, limit, abort, step } = setup({ concurrency: 1 });
  await gate.ask(HOST, limit, 'somebody else');
  let isOver = false;
  void slots.acquire({ host: HOST, holder: 'me', limit, signal: abort.signal }).then(() => {
    isOver = true;
  });
  for (let ms = 0; ms < 1_000; ms += 50) await step(50);
  expect(isOver).toBe(false);
  await gate.leave(HOST, limit, 'somebody else', { durationMs: 20 });
  for (let ms = 0; ms < 200; ms += 50) await step(50);
  expect(isOver).toBe(true);
});

test('a wait without end rejects with the reason of its signal, and keeps no place', async () => {
  const { slots, gate, limit, abort, step } = setup({ intervalMs: 200, concurrency: 1 });
  await gate.ask(HOST, { ...limit, concurrency: 0 }, 'somebody else');
  const waiting = slots.acquire({ host: HOST, holder: 'me', limit, signal: abort.signal });
  const ended = expect(waiting).rejects.toThrow('the producer stops');
  await step(100);
  abort.abort(new Error('the producer stops'));
  await ended;
  expect(await gate.ask(HOST, { ...limit, intervalMs: 0 }, 'third')).toMatchObject({ granted: true });
});

test('a patient request gets every other slot of a host whose pages ask for each one just before it comes', async () => {
  const { slots, gate, limit, abort, step } = setup({ intervalMs: 1_000 });
  const order: string[] = [];
  let documents = 0;
  const read = async (): Promise<void> => {
    await slots.acquire({ host: HOST, holder: `document ${++documents}`, limit, signal: abort.signal });
    order.push('document');
    await read();
  };
  await gate.ask(HOST, limit, 'the first page');
  void read().catch(() => {});
  // Each asks 200 ms ahead of a slot: not sooner, as release does.
  for (let ms = 0; ms < 10_000; ms += 100) {
    await step(100);
    if (ms % 1_000 !== 700) continue;
    if ((await gate.ask(HOST, limit, `page at ${ms}`)).granted) order.push('page');
  }
  abort.abort();
  expect(order.slice(0, 8)).toEqual(['page', 'document', 'page', 'document', 'page', 'document', 'page', 'document']);
});

test('a patient request gets every slot if nobody else asks', async () => {
  const { slots, limit, abort, clock, step } = setup({ intervalMs: 1_000 });
  const began = clock.now();
  const starts: number[] = [];
  const read = async (): Promise<void> => {
    const turn = await slots.acquire({ host: HOST, holder: `document ${starts.length}`, limit, signal: abort.signal });
    turn.timings.onSent();
    starts.push(clock.now() - began);
    await read();
  };
  void read().catch(() => {});
  for (let ms = 0; ms < 3_500; ms += 100) await step(100);
  abort.abort();
  expect(starts).toEqual([0, 1_000, 2_000, 3_000]);
});
