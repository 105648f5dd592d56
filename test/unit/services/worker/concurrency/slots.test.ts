import { expect, test } from 'vitest';
import { Slots } from '../../../../../services/worker/concurrency/slots.ts';
import type { Queue } from '../../../../../shared/task/task/routing.ts';

/** Enters `count` deliveries and counts those that get in. */
function crowd(slots: Slots, queue: Queue, count: number): { readonly inside: number } {
  const crowd = { inside: 0 };
  const enter = async (): Promise<void> => {
    if (await slots.enter(queue)) crowd.inside++;
  };
  for (let i = 0; i < count; i++) void enter();
  return crowd;
}

/** Lets the callbacks of settled promises run. */
async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

test('priority gets three quarters of the slots while both queues have deliveries', async () => {
  const slots = new Slots(32);
  const [priority, normal] = [crowd(slots, 'priority', 100), crowd(slots, 'normal', 100)];
  await settled();
  expect([priority.inside, normal.inside]).toEqual([32, 0]);
  // As the lent slots are freed, normal gets its quarter.
  for (let i = 0; i < 20; i++) slots.leave('priority');
  await settled();
  expect([priority.inside - 20, normal.inside]).toEqual([24, 8]);
  for (let i = 0; i < 50; i++) {
    slots.leave(i % 4 === 0 ? 'normal' : 'priority');
    await settled();
  }
  expect(slots.inHand).toBe(32);
  expect(priority.inside - 20 - 37).toBe(24);
});

test('a queue may use the idle share of the other', async () => {
  const slots = new Slots(8);
  const normal = crowd(slots, 'normal', 20);
  await settled();
  expect(normal.inside).toBe(8);
});

test('a suspect starts once no other task is in hand, and nothing else enters until it ends', async () => {
  const slots = new Slots(4);
  await Promise.all([slots.enter('normal'), slots.enter('normal')]);
  const events: string[] = [];
  const { promise: end, resolve } = Promise.withResolvers<void>();
  const alone = slots.alone(async () => {
    events.push('alone');
    await end;
  });
  const late = slots.enter('normal').then(() => events.push('late'));
  await settled();
  expect(events).toEqual([]);
  slots.leave('normal');
  await settled();
  expect(events).toEqual(['alone']);
  resolve();
  await alone;
  slots.leave('normal');
  await late;
  expect(events).toEqual(['alone', 'late']);
});

test('after a suspect, deliveries enter one at a time until some prove unsuspected', async () => {
  const slots = new Slots(8);
  let inside = 0;
  for (let n = 0; n < 12; n++) void slots.enter('normal').then(() => inside++);
  await settled();
  expect(inside).toBe(8);
  const alone = slots.alone(() => Promise.resolve());
  for (let n = 0; n < 7; n++) slots.leave('normal');
  await alone;
  slots.leave('normal');
  await settled();
  expect([inside, slots.inHand]).toEqual([9, 1]);
  // It was neither a suspect nor a fetched page, but a task that no longer exists, say.
  slots.leave('normal');
  await settled();
  expect([inside, slots.inHand]).toEqual([10, 1]);
  slots.noteUnsuspected();
  await settled();
  expect([inside, slots.inHand]).toEqual([11, 2]);
  slots.noteUnsuspected();
  await settled();
  expect([inside, slots.inHand]).toEqual([12, 3]);
});

test('two suspects at once run one after the other', async () => {
  const slots = new Slots(4);
  const order: string[] = [];
  const suspect = async (name: string): Promise<void> => {
    await slots.enter('normal');
    await slots.alone(async () => {
      order.push(`${name} in`);
      await settled();
      order.push(`${name} out`);
    });
    slots.leave('normal');
  };
  await Promise.all([suspect('a'), suspect('b')]);
  expect(order).toEqual(['a in', 'a out', 'b in', 'b out']);
  expect(await slots.enter('normal')).toBe(true);
});

test('closed slots turn waiting deliveries away; reopened slots let them in', async () => {
  const slots = new Slots(1);
  await slots.enter('normal');
  const waiting = slots.enter('normal');
  slots.close();
  expect(await waiting).toBe(false);
  expect(await slots.enter('priority')).toBe(false);
  slots.open();
  slots.leave('normal');
  expect(await slots.enter('priority')).toBe(true);
});

test('a delivery whose wait times out is turned away and takes no slot later', async () => {
  const slots = new Slots(1);
  expect(await slots.enter('priority')).toBe(true);
  const { promise: timeout, resolve: lose } = Promise.withResolvers<void>();
  const waiting = [slots.enter('priority', timeout), slots.enter('priority')] as const;
  lose();
  expect(await waiting[0]).toBe(false);
  slots.leave('priority');
  expect(await waiting[1]).toBe(true);
  expect(slots.inHand).toBe(1);
});

test('the timeout of a delivery that has a slot turns no other one away', async () => {
  const slots = new Slots(1);
  expect(await slots.enter('normal', Promise.resolve())).toBe(true);
  const next = slots.enter('normal');
  await settled();
  slots.leave('normal');
  expect(await next).toBe(true);
});

test('growing lets waiting deliveries in, and shrinking lets those inside finish', async () => {
  const slots = new Slots(2);
  const normal = crowd(slots, 'normal', 5);
  await Promise.resolve();
  expect([normal.inside, slots.isFull, slots.total]).toEqual([2, true, 2]);
  slots.resize(4);
  await Promise.resolve();
  expect([normal.inside, slots.isFull]).toEqual([4, true]);
  slots.resize(1);
  slots.leave('normal');
  slots.leave('normal');
  slots.leave('normal');
  await Promise.resolve();
  expect([normal.inside, slots.inHand]).toEqual([4, 1]);
  slots.leave('normal');
  await Promise.resolve();
  expect([normal.inside, slots.isFull]).toEqual([5, false]);
});

test('a noted shortage is reported once, and a waiting delivery counts as one each time', async () => {
  const slots = new Slots(1);
  expect(slots.takeShortage()).toBe(false);
  slots.noteShortage();
  expect([slots.takeShortage(), slots.takeShortage()]).toEqual([true, false]);
  await slots.enter('normal');
  expect(slots.takeShortage(), 'taken, but nobody waits').toBe(false);
  void slots.enter('normal');
  expect([slots.takeShortage(), slots.takeShortage()]).toEqual([true, true]);
});

test('slots are crowded while more than half of the tasks in hand wait for a place at their host', async () => {
  const slots = new Slots(4);
  crowd(slots, 'normal', 4);
  await settled();
  const seen = [slots.isCrowded];
  for (let n = 0; n < 3; n++) {
    slots.noteInLine(1);
    seen.push(slots.isCrowded);
  }
  slots.noteInLine(-1);
  expect([...seen, slots.isCrowded]).toEqual([false, false, false, true, false]);
});
