import { expect, test } from 'vitest';
import { openApi } from './setup.ts';

const MIB = 1024 ** 2;
const urls = (length: number): string[] => Array.from({ length }, (_, n) => `http://a.test/${n}`);

test.each([
  [
    '/api/crawl/batch',
    { urls: urls(1_001) },
    'body.urls: expected at most 1000 URLs: split them, or open a run (POST /api/runs)',
  ],
  [
    '/api/runs',
    { seeds: urls(10_001) },
    'body.seeds: expected at most 10000 seeds: open the run with none, and offer them in parts (POST /api/runs/RUN/offers)',
  ],
  [
    '/api/runs/r1/offers',
    { urls: urls(10_001) },
    'body.urls: expected at most 10000 URLs: offer them in several requests',
  ],
])('%s says how many URLs it takes, and what to do with more', async (path, body, detail) => {
  const { ask } = await openApi();
  expect((await ask(path, { body })).json).toMatchObject({ status: 400, code: 'usage', detail });
});

test.each([
  ['/api/crawl/batch', 10 * MIB, '10.0 MiB'],
  ['/api/runs', 16 * MIB, '16.0 MiB'],
  ['/api/forget', MIB / 4, '256 KiB'],
])('%s says how large a body may be', async (path, most, told) => {
  const { ask } = await openApi();
  expect((await ask(path, { body: ' '.repeat(most + 1) })).json).toMatchObject({
    status: 413,
    code: 'too_large',
    detail: `expected a body of at most ${told}: split it into several requests`,
  });
});
