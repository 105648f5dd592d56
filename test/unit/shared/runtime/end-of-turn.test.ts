import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { atEndOfTurn } from '../../../../shared/runtime/end-of-turn.ts';

test('all callbacks of a turn run at its end: first those that write, then those that send, each in order', async () => {
  const calls: string[] = [];
  atEndOfTurn('send', () => calls.push('send 1'));
  atEndOfTurn('write', () => {
    calls.push('write 1');
    atEndOfTurn('send', () => calls.push('send 2'));
    atEndOfTurn('write', () => calls.push('write of the next turn'));
  });
  atEndOfTurn('write', () => calls.push('write 2'));
  await Promise.resolve();
  expect(calls).toEqual([]);
  await turn();
  expect(calls).toEqual(['write 1', 'write 2', 'send 1', 'send 2']);
  await turn();
  expect(calls.slice(4)).toEqual(['write of the next turn']);
});
