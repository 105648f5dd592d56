import { expect, test } from 'vitest';
import { restartDelayMs } from '../../../../../services/cli/supervisor/restart-delay.ts';

test('the restart delay of a process that keeps dying at once doubles up to 30 s', () => {
  const delays: number[] = [];
  while (delays.length < 8) delays.push(restartDelayMs(delays.at(-1) ?? 0, 10));
  expect(delays).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
});

test('the restart delay is reset after a minute of work', () => {
  expect(restartDelayMs(30_000, 59_999)).toBe(30_000);
  expect(restartDelayMs(30_000, 60_000)).toBe(1_000);
});
