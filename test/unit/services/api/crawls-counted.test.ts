import { expect, onTestFinished, test } from 'vitest';
import { samplesOf } from '../../../support/metrics/exposition.ts';
import { TestSite } from '../../../support/site.ts';
import { openApi, openSite } from './setup.ts';

test('the metrics of the API include what it crawls itself: batches and local runs', async () => {
  const site = new TestSite({ pages: 5 });
  await site.start();
  onTestFinished(() => site.stop());
  const { ask } = await openApi();
  const urls = [site.url('/page/1'), site.url('/page/2'), site.url('/nix')];
  for (const some of [urls, urls.slice(0, 1)])
    expect((await ask('/api/crawl/batch', { body: { urls: some, timeout: 20 } })).status).toBe(200);
  await ask('/api/runs', { body: { run: 'r', seeds: [site.url('/page/3')] } });
  await expect.poll(async () => (await ask('/api/runs/r')).json.state).toBe('finished');
  const samples = samplesOf((await ask('/metrics')).text);
  expect(Object.fromEntries(samples)).toMatchObject({
    'trawl_tasks_settled_total{outcome="done",reason=""}': 4,
    'trawl_tasks_settled_total{outcome="failed",reason="http_4xx"}': 1,
    'trawl_records_written_total{sink="memory"}': 4,
    'trawl_records_written_total{sink="jsonl"}': 1,
  });
  expect(samples.get('trawl_fetch_duration_seconds_count{outcome="ok"}')).toBeGreaterThanOrEqual(4);
  expect(samples.get('trawl_received_bytes_total')).toBeGreaterThan(0);
  expect(samples.get('trawl_store_call_duration_seconds_count{store="sqlite",operation="settle"}')).toBeGreaterThan(0);
});

test('the answer to a crawl on this machine counts what its sitemaps list and its options leave out', async () => {
  const site = await openSite();
  const { ask } = await openApi();
  const entry = (path: string, lastmod: string) => `<url><loc>${path}</loc><lastmod>${lastmod}</lastmod></url>`;
  const entries = [entry('/page/1', '2026-11-02'), entry('/page/2', '2026'), entry('/other', '2026-11-02')];
  site.on('/sitemap.xml', (_, response) => response.end(`<urlset>${entries.join('')}</urlset>`));
  const begin = async (run: string, lastmodSince: string) => {
    const options = { include: ['/page/*'], lastmodSince };
    return (await ask('/api/runs', { body: { run, seeds: [site.url('/sitemap.xml')], options } })).json;
  };
  const none = { pages: 0, sitemaps: 0 };
  expect(await begin('recent', '2026-01-01')).toMatchObject({ discovered: 2, unwanted: 1, older: none });
  expect(await begin('none', '2027-01-01')).toMatchObject({ discovered: 0, unwanted: 0, older: { ...none, pages: 3 } });
});
