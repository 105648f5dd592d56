import { expect, test } from 'vitest';
import { exceedsAllowance } from '../../../../../shared/task/task/coding-allowance.ts';

// biome-ignore format: a table
test.each([
  [  262_144,         0, false],
  [  262_145,         0, true],
  [2_262_144, 1_000_000, false],
  [2_262_145, 1_000_000, true],
])('%i coded bytes for %i bytes of content are too many: %s', (coded, content, isTooMany) => {
  expect(exceedsAllowance(coded, content)).toBe(isTooMany);
});
