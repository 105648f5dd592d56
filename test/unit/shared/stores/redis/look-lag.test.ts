import { expect, test } from 'vitest';
import { LookLag } from '../../../../../shared/stores/redis/look-lag.ts';

function lagAfter(...looks: readonly number[]): number {
  const lag = new LookLag();
  for (const ms of looks) lag.took(ms);
  return lag.ms;
}

test('a Redis that is far away is not busy', () => {
  expect(lagAfter()).toBe(0);
  expect(lagAfter(80, 81, 80, 82, 80, 83)).toBe(0);
});

test('five slow looks in a row make Redis busy, measured by the quickest of them; a quick one ends that', () => {
  expect(lagAfter(5, 70, 90, 80, 75)).toBe(0);
  expect(lagAfter(5, 70, 90, 80, 75, 70)).toBe(65);
  expect(lagAfter(5, 70, 90, 80, 75, 70, 6)).toBe(1);
});

test('one very slow look is enough', () => {
  expect(lagAfter(5, 254)).toBe(0);
  expect(lagAfter(5, 255)).toBe(250);
});
