import { expect, test } from 'vitest';
import { Slots } from '../../../../../services/worker/concurrency/slots.ts';
import type { Queue } from '../../../../../shared/task/task/routing.ts';

/** Enters this many deliveries and counts those that got in. */
function crowd(slots: Slots, queue: Queue, count: number): { readonly inside: number } {
  const crowd = { inside: 0 };
  const enter = async (): Promise<void> => {
    if (await slots.enter(queue)) crowd.inside++;
  };
  for (let i = 0; i < count; i++) void enter();
  return crowd;
}

/** Lets everything that has been settled be heard. */
async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

test('while both queues have deliveries, priority has three quarters of the slots', async () => {
  const slots = new Slots(32);
  const [priority, normal] = [crowd(slots, 'priority', 100), crowd(slots, 'normal', 100)];
  await settled();
  expect([priority.inside, normal.inside]).toEqual([32, 0]);
  // As those lent to it end, normal gets its quarter.
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

test('an idle share is lent', async () => {
  const slots = new Slots(8);
  const normal = crowd(slots, 'normal', 20);
  await settled();
  expect(normal.inside).toBe(8);
});

test('a suspect works alone: nobody enters, and it waits for those who are in', async () => {
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

test('after a suspect, one enters at a time, until some are not suspected', async () => {
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
  // Neither a suspect nor a page that is fetched: a task that is no longer there, say.
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

test('two suspects at once go one after the other', async () => {
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

test('once closed, those who wait are turned away; open again, they enter', async () => {
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

test('whoever has waited long enough is turned away, and takes no slot later', async () => {
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

test('the time-out of one who has a slot turns away nobody else', async () => {
  const slots = new Slots(1);
  expect(await slots.enter('normal', Promise.resolve())).toBe(true);
  const next = slots.enter('normal');
  await settled();
  slots.leave('normal');
  expect(await next).toBe(true);
});

test('resized: those who wait come in, and those who are in stay', async () => {
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

test('a shortage is told once: of somebody who waits, or who was refused', async () => {
  const slots = new Slots(1);
  expect(slots.takeShortage()).toBe(false);
  slots.noteShortage();
  expect([slots.takeShortage(), slots.takeShortage()]).toEqual([true, false]);
  await slots.enter('normal');
  expect(slots.takeShortage(), 'taken, but nobody waits').toBe(false);
  void slots.enter('normal');
  expect([slots.takeShortage(), slots.takeShortage()]).toEqual([true, true]);
});

test('it is crowded while more than half of what is in hand waits for a place at its host', async () => {
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
