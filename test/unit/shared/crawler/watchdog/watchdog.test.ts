import { expect, test, vi } from 'vitest';
import { Watchdog } from '../../../../../shared/crawler/watchdog/watchdog.ts';

vi.mock('node:worker_threads', () => ({
  Worker: class {
    constructor() {
      throw Object.assign(new Error('EAGAIN'), { code: 'ERR_WORKER_INIT_FAILED' });
    }
  },
}));

test('where no thread can be started, as in a container with a limited number of processes, work continues unwatched', async () => {
  const watchdog = new Watchdog({ stuckAfterMs: 1_000, lastWords: () => [] });
  await watchdog.start();
  watchdog.enter('https://a.example/');
  expect(watchdog.leave()).toBe(0);
  await watchdog.stop();
});
