import { expect, test } from 'vitest';
import { MOST_NAMED, TasksInHand } from '../../../../services/worker/tasks-in-hand.ts';
import type { Delivery } from '../../../../shared/ports/transport.ts';
import { INITIAL_FIELDS } from '../../../../shared/task/task/form.ts';
import { writeMessage } from '../../../../shared/task/task/message.ts';
import { deliveryOf } from './setup.ts';

function delivery(url: string, step = ''): Delivery {
  const task = { ...INITIAL_FIELDS, run: 'r', url, host: 'a.test', mark: url, step, queue: 'normal' as const };
  return deliveryOf(writeMessage(task), { id: url, release: 1 });
}

test('tasks in hand are listed with their step and duration, longest first', () => {
  let now = 1_000;
  const tasks = new TasksInHand({ now: () => now });
  const [first, second] = [delivery('http://a.test/1'), delivery('http://a.test/2', 'product')];
  tasks.begin(first);
  now = 2_500;
  tasks.begin(second);
  now = 3_000;
  const named = { run: 'r', url: 'http://a.test/2', step: 'product', forMs: 500 };
  expect(tasks.read()).toEqual([{ run: 'r', url: 'http://a.test/1', step: '', forMs: 2_000 }, named]);
  tasks.end(first);
  expect(tasks.read()).toEqual([named]);
  tasks.end(second);
  expect(tasks.read()).toEqual([]);
});

test('only the longest-running tasks are listed, with long URLs cut short', () => {
  let now = 0;
  const tasks = new TasksInHand({ now: () => now++ });
  for (let n = 0; n < 3 * MOST_NAMED; n++) tasks.begin(delivery(`http://a.test/${n}?${'x'.repeat(5_000)}`));
  const named = tasks.read();
  expect(named.length).toBe(MOST_NAMED);
  expect(named.map(({ url }) => url.slice(0, 18))).toEqual(
    Array.from({ length: MOST_NAMED }, (_, n) => `http://a.test/${n}?xxxxxxxx`.slice(0, 18)),
  );
  expect(JSON.stringify(named).length).toBeLessThan(8_192);
});

test('a message that is not a task, or names no run, is not listed', () => {
  const tasks = new TasksInHand();
  for (const body of ['nonsense', '{"url":"http://a.test/"}']) tasks.begin(deliveryOf(body, { id: 'x' }));
  expect(tasks.read()).toEqual([]);
});
