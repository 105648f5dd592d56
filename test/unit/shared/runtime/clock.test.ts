import { expect, onTestFinished, test, vi } from 'vitest';
import { systemClock } from '../../../../shared/runtime/clock.ts';

test('a sleep until a past moment ends soon, without a warning', async () => {
  const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  onTestFinished(() => warned.mockRestore());
  await systemClock.sleep(-2);
  expect(warned).not.toHaveBeenCalled();
});

test('a sleep longer than the longest timer does not end at once, and causes no warning', async () => {
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
