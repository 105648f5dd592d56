import { expect, test } from 'vitest';
import type { Destination, OutgoingMessage, PublishOutcome } from '../../../../shared/ports/transport.ts';
import { Refusals } from '../../../../shared/transports/rabbitmq/refusals.ts';

const EACH: Readonly<Record<string, PublishOutcome>> = { r: 'refused', c: 'confirmed', u: 'unknown', '-': 'returned' };

/** The outcomes of messages to the normal queue, one letter each. */
function setup() {
  let now = 0;
  const refusals = new Refusals(() => now);
  const note = (outcomes: string, to: Destination = 'normal'): void => {
    const message: OutgoingMessage = { to, id: 'm', body: '', headers: {} };
    refusals.note(
      Array.from(outcomes, () => message),
      Array.from(outcomes, (each) => EACH[each] ?? 'unknown'),
    );
  };
  const passes = (ms: number): void => {
    now += ms;
  };
  return { refusals, note, passes };
}

test('a refusal is recent for ten seconds', () => {
  const { refusals, note, passes } = setup();
  note('cu-');
  expect(refusals.areRecent).toBe(false);
  note('cr');
  passes(9_999);
  expect(refusals.areRecent).toBe(true);
  passes(1);
  expect(refusals.areRecent).toBe(false);
});

test.each([
  ['takes nothing for five seconds', 'r', 'r', ['normal']],
  ['answers nothing meanwhile', 'r', 'u', ['normal']],
  ['takes one of many', 'r', 'rcr', []],
  ['took one of the first', 'rc', 'u', []],
  ['refuses nothing', 'c', 'c', []],
])('a queue that %s', (_, first, then, stuck) => {
  const { refusals, note, passes } = setup();
  note(first);
  passes(5_000);
  note(then);
  expect(refusals.takeStuck()).toEqual(stuck);
});

test('each queue is reported separately, and again after another five seconds', () => {
  const { refusals, note, passes } = setup();
  note('r');
  passes(4_000);
  note('r', 'priority');
  passes(1_000);
  expect(refusals.takeStuck()).toEqual(['normal']);
  passes(4_000);
  expect(refusals.takeStuck()).toEqual(['priority']);
  passes(1_000);
  expect(refusals.takeStuck()).toEqual(['normal']);
});
