import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { TestSite } from '../../../../support/site.ts';
import { type Answer, openApi } from '../setup.ts';

/** A site, and an API that must read a file before it understands a request. */
async function setup() {
  const folder = await mkdtemp(join(tmpdir(), 'trawl-routes-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const routes = join(folder, 'routes.json');
  await writeFile(routes, '[]');
  const site = new TestSite({ pages: 20 });
  await site.start();
  onTestFinished(() => site.stop());
  return { site, ...(await openApi({ ROUTES: routes })) };
}

/** How many answers have each status. */
function statusesOf(answers: readonly Answer[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

test('the limit on batches holds for batches that arrive at once', async () => {
  const { ask, site } = await setup();
  const held: ServerResponse[] = [];
  site.on('/held', (_, response) => void held.push(response));
  const body = { urls: [site.url('/held')], timeout: 60 };
  let refused = 0;
  const asked = Array.from({ length: 12 }, async () => {
    const answer = await ask('/api/crawl/batch', { body });
    if (answer.status === 429) refused++;
    return answer;
  });
  await expect.poll(() => [refused, held.length]).toEqual([8, 4]);
  for (const response of held) response.end('a page');
  expect(statusesOf(await Promise.all(asked))).toEqual({ 200: 4, 429: 8 });
});

test('of two batches that arrive at once with one Idempotency-Key, only one is crawled', async () => {
  const { ask, site } = await setup();
  const headers = { 'idempotency-key': 'k1' };
  const urls = [site.url('/page/1'), site.url('/page/2')];
  const answers = await Promise.all(
    urls.map((url) => ask('/api/crawl/batch', { body: { urls: [url], timeout: 20 }, headers })),
  );
  expect(statusesOf(answers)).toEqual({ 200: 1, 409: 1 });
  const crawled = answers.findIndex(({ status }) => status === 200);
  expect(answers[crawled]?.json.results).toMatchObject([{ url: urls[crawled], status: 'success' }]);
});

test('a run that many clients open at once is crawled once', async () => {
  const { ask, site } = await setup();
  const body = { run: 'r1', seeds: [site.url('/page/1')] };
  const answers = await Promise.all(Array.from({ length: 8 }, () => ask('/api/runs', { body })));
  expect(statusesOf(answers)).toEqual({ 202: 1, 409: 7 });
});
