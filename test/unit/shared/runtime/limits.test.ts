import { expect, test } from 'vitest';
import { bodyMemoryOf, warnOfLittleMemory } from '../../../../shared/runtime/limits.ts';

const MIB = 2 ** 20;

test.each([
  [128, 8],
  [200, 10],
  [256, 24],
  [1_024, 216],
  [2_048, 472],
])('of %i MiB, bodies may take %i', (limit, most) => {
  expect(bodyMemoryOf(limit * MIB) / MIB).toBe(most);
});

test.each([
  [199, ['this process may be killed for lack of memory: give it 256 MiB or more']],
  [200, []],
])('with %i MiB: %j', (limit, expected) => {
  const said: string[] = [];
  warnOfLittleMemory({ warn: (_: object, message: string) => void said.push(message) }, limit * MIB);
  expect(said).toEqual(expected);
});
