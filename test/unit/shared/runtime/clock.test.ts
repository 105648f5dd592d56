import { expect, onTestFinished, test, vi } from 'vitest';
import { systemClock } from '../../../../shared/runtime/clock.ts';

test('a sleep until a moment that is past ends soon, and nobody is warned', async () => {
  const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  onTestFinished(() => warned.mockRestore());
  await systemClock.sleep(-2);
  expect(warned).not.toHaveBeenCalled();
});

test('a sleep that is longer than a timer can be is not over at once, and nobody is warned', async () => {
  const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  onTestFinished(() => warned.mockRestore());
  const abort = new AbortController();
  const sleeping = systemClock.sleep(2 ** 31, abort.signal).then(() => 'over');
  expect(await Promise.race([sleeping, systemClock.sleep(20)])).toBeUndefined();
  expect(warned).not.toHaveBeenCalled();
  abort.abort();
  expect(await sleeping).toBe('over');
});

test('an abort ends a sleep at once', async () => {
  const abort = new AbortController();
  const sleeping = systemClock.sleep(60_000, abort.signal);
  abort.abort();
  await expect(sleeping).resolves.toBeUndefined();
  await expect(systemClock.sleep(60_000, abort.signal)).resolves.toBeUndefined();
});
