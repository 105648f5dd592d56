import { expect, test } from 'vitest';
import { readCrawlerInput } from '../../../../services/process/crawler-input.ts';
import { defineCrawler } from '../../../../shared/crawler/crawler.ts';

/** Reads the seeds of a crawler that has these. */
function read(seeds: () => Promise<string[]>) {
  return readCrawlerInput(defineCrawler({ name: 'shop', seeds, steps: { list: { run() {} } } }), [], {});
}

test('seeds that wait for what never comes end the command with a sentence, once nothing else is left to do', async () => {
  const reading = read(() => new Promise(() => {}));
  const listeners = process.listeners('beforeExit');
  // As Node.js does it when its event loop is empty.
  (listeners.at(-1) as () => void)();
  await expect(reading).rejects.toThrow('the seeds of crawler shop: they wait for something that never comes');
  expect(process.listeners('beforeExit')).toEqual(listeners.slice(0, -1));
});

test('seeds that come are read, a site as a page', async () => {
  const { seeds } = await read(async () => ['https://shop.example/', 'https://shop.example/all/']);
  expect(seeds).toEqual([
    { kind: 'page', url: 'https://shop.example/' },
    { kind: 'page', url: 'https://shop.example/all/' },
  ]);
});
