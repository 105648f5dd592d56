import { expect, test } from 'vitest';
import { SizeLimit } from '../../../../shared/transports/rabbitmq/size-limit.ts';

const REFUSAL = new Error(
  'Channel closed by server: 406 (PRECONDITION-FAILED) with message "PRECONDITION_FAILED - message size 7085 is larger than configured max size 2000"',
);

function setup() {
  const clock = { ms: 0 };
  return { clock, limit: new SizeLimit(() => clock.ms) };
}

test('a limit that the broker has told holds for a minute; then one message tries whether it was raised', () => {
  const { clock, limit } = setup();
  expect([limit.judge(7_085), limit.isRecent]).toEqual(['fits', false]);
  expect(limit.learn(REFUSAL)).toEqual({ bytes: 7_085, limit: 2_000 });
  expect([limit.judge(2_000), limit.judge(2_001), limit.isRecent]).toEqual(['fits', 'too_large', true]);
  clock.ms = 60_000;
  expect([limit.judge(7_085), limit.judge(7_085)]).toEqual(['doubtful', 'too_large']);
  limit.taken(2_000);
  expect(limit.judge(7_085)).toBe('too_large');
  limit.taken(7_085);
  expect([limit.judge(7_085), limit.isRecent]).toEqual(['fits', false]);
});

test('nothing is learned from other errors', () => {
  const { limit } = setup();
  expect(limit.learn(new Error('Channel closed by server: 404 (NOT-FOUND)'))).toBeUndefined();
  expect(limit.judge(1e9)).toBe('fits');
});

test('after some minutes without a message that is too large, it is no trouble any more', () => {
  const { clock, limit } = setup();
  limit.learn(REFUSAL);
  clock.ms = 180_000;
  expect(limit.isRecent).toBe(false);
});
