import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, inject, onTestFinished } from 'vitest';
import { type ApiAnswer, type ApiProcess, openApi } from '../support/processes/api-process.ts';
import { TcpProxy } from '../support/proxies/tcp-proxy.ts';
import { type Crawl, openCrawl } from './harness/crawl.ts';
import { row } from './harness/row.ts';
import { ownServers } from './harness/servers.ts';
import { until } from './harness/until.ts';

const servers = ownServers('redis');

/** A distributed batch of all URLs of a crawl. Sending it again with its key gives the same batch. */
function batchOf(crawl: Crawl) {
  const urls = [...crawl.expected.keys()].map((path) => crawl.urlOf(path));
  const body = { urls, distributed: true, timeout: 120, options: { maxAttempts: 2 } };
  const send = async ({ ask }: ApiProcess) => await ask('/api/crawl/batch', body, { 'idempotency-key': 'k1' });
  return { urls, send };
}

/** The ids of all runs in Redis. */
async function runsOf({ redis, prefix }: Crawl): Promise<string[]> {
  return (await redis.zrange(`${prefix}runs`, 0, -1)).toSorted();
}

/** Checks that there was one crawl with a complete answer: each URL has its expected outcome, and at most `most` pages were fetched again. */
async function checkAnswer(
  crawl: Crawl,
  api: ApiProcess,
  answer: ApiAnswer,
  { others = [], most = 0 }: { others?: readonly string[]; most?: number } = {},
): Promise<void> {
  expect(answer.status, answer.text.slice(0, 500)).toBe(200);
  const { session_id: run, results, stats } = answer.json;
  const outcomes = results.map(({ url, status }: { url: string; status: string }) => [crawl.pathOf(url), status]);
  const expected = [...crawl.expected].map(([path, ending]) => [path, ending.replace(/:.*|^done$/, '') || 'success']);
  expect(outcomes).toEqual(expected.map(([path, ending]) => [path, ending]));
  expect(stats.timeout).toBe(0);
  expect(await runsOf(crawl), 'one crawl').toEqual([run, ...others]);
  expect((await api.ask(`/api/runs/${run}`)).json).toMatchObject({
    ...{ state: 'finished', sealed: true, waiting: 0, inFlight: 0, discovered: crawl.expected.size },
  });
  const pages = [...crawl.expected.keys()].filter((path) => path.startsWith('/page/'));
  const again = pages.filter((path) => crawl.site.count(path) > 1).length;
  expect(again, 'pages fetched again').toBeLessThanOrEqual(most);
}

describe('batches over HTTP', () => {
  row(41, 'the API is killed while a batch is submitted, and the request is repeated', async (round) => {
    // Its commands to Redis take a while, so that it is killed between any two of them.
    const proxy = new TcpProxy({ host: '127.0.0.1', port: Number(new URL(inject('redisUrl')).port) });
    await proxy.start();
    onTestFinished(() => proxy.stop());
    const crawl = await openCrawl(round, { pages: 700, perMinute: 'none', workers: 2 });
    await crawl.begin(false);
    const first = await openApi(crawl.workplace, { REDIS_URL: proxy.inFrontOf(inject('redisUrl')) });
    const { send } = batchOf(crawl);
    proxy.weather = { latencyMs: 60 };
    const asked = send(first).catch((error: unknown) => error);
    await until('the batch is begun', async () => (await crawl.redis.keys(`${crawl.prefix}run:batch-*`)).length > 0, {
      everyMs: 5,
    });
    await sleep(400 * round.random());
    first.process.signal('SIGKILL');
    expect(await asked, 'the first answer').toBeInstanceOf(Error);
    const second = await openApi(crawl.workplace);
    round.mended();
    const answer = await send(second);
    await checkAnswer(crawl, second, answer);
    expect((await send(second)).json, 'asked once more').toEqual(answer.json);
    await crawl.endWorkers();
  });

  row('41b', 'Redis comes back a second older while the API has a batch and offers in hand', async (round) => {
    const { redis } = servers();
    const crawl = await openCrawl(round, {
      redisUrl: redis.url,
      pages: 150,
      trouble: {},
      perMinute: 1_500,
      workers: 2,
    });
    await crawl.begin(false);
    const api = await openApi(crawl.workplace);
    const bringBack = await redis.keep();
    const { send } = batchOf(crawl);
    const asked = send(api);
    // Redis forgets everything offered from here on: the batch, a run that waits for offers, and one with seeds.
    expect((await api.ask('/api/runs', { run: 'offered', seeds: [] })).status).toBe(202);
    const offered = [crawl.site.url('/page/1?offered'), crawl.site.url('/page/2?offered')];
    expect((await api.ask('/api/runs/offered/offers', { urls: offered })).json.discovered).toBe(2);
    const seeds = [crawl.site.url('/page/3?seeded')];
    expect((await api.ask('/api/runs', { run: 'seeded', seeds })).json.discovered).toBe(1);
    await until('the batch is crawled', () => crawl.site.count('/page/1') > 0);
    await redis.kill();
    await bringBack();
    await redis.start();
    round.mended();
    // Pages fetched in the lost second are fetched again.
    await checkAnswer(crawl, api, await asked, { others: ['offered', 'seeded'], most: 150 });
    for (const [run, discovered] of [
      ['offered', 2],
      ['seeded', 1],
    ] as const)
      await until(`${run} is whole`, async () => (await api.ask(`/api/runs/${run}`)).json?.discovered === discovered);
    expect((await api.ask('/api/runs/offered/seal', {})).status).toBe(200);
    for (const run of ['offered', 'seeded'])
      await until(`${run} ends`, async () => (await api.ask(`/api/runs/${run}`)).json?.state === 'finished');
    await crawl.endWorkers();
  });
});
