import { expect, onTestFinished, test, vi } from 'vitest';
import { readCrawlerInput } from '../../../../services/process/crawler-input.ts';
import { defineCrawler } from '../../../../shared/crawler/crawler.ts';

/** Reads the seeds of a crawler that has these. */
function read(seeds: () => Promise<string[]>, onWait = (_crawler: string): unknown => undefined) {
  const crawler = defineCrawler({ name: 'shop', seeds, steps: { list: { run() {} } } });
  return readCrawlerInput(crawler, [], {}, { settings: { stepTimeout: 30_000 }, onWait });
}

test('seeds that wait for what never comes end the command with a sentence, once nothing else is left to do', async () => {
  const none = process.listenerCount('beforeExit');
  const reading = read(() => new Promise(() => {}));
  await expect.poll(() => process.listenerCount('beforeExit')).toBeGreaterThan(none);
  const listeners = process.listeners('beforeExit');
  // As Node.js does it when its event loop is empty.
  (listeners.at(-1) as () => void)();
  await expect(reading).rejects.toThrow('the seeds of crawler shop: they wait for something that never comes');
  expect(process.listeners('beforeExit')).toEqual(listeners.slice(0, -1));
});

test('whoever waits for seeds is told every 30 s', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const { promise, resolve } = Promise.withResolvers<string[]>();
  const told: string[] = [];
  const reading = read(
    () => promise,
    (crawler) => told.push(crawler),
  );
  await Promise.resolve();
  vi.advanceTimersByTime(61_000);
  resolve([]);
  await reading;
  vi.advanceTimersByTime(61_000);
  expect(told).toEqual(['shop', 'shop']);
});

test('seeds that come are read, a site as a page', async () => {
  const { seeds } = await read(async () => ['https://shop.example/', 'https://shop.example/all/']);
  expect(seeds).toEqual([
    { kind: 'page', url: 'https://shop.example/' },
    { kind: 'page', url: 'https://shop.example/all/' },
  ]);
});
