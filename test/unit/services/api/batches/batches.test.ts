import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { batchRunOf } from '../../../../../services/api/batches/batch-request.ts';
import { openApi, openSite } from '../setup.ts';

const DEFINE = join(import.meta.dirname, '../../../../../shared/crawler/crawler.ts');

describe('batches in the process of the API', () => {
  test('one entry per input, in order: failures, duplicates and malformed ones among them', async () => {
    const site = await openSite();
    const { ask } = await openApi();
    const page = (n: number): string => site.url(`/page/${n}`);
    const urls = [page(1), page(2), page(1), site.url('/nix'), 'nonsense', 'ftp://a.test/'];
    const { status, json } = await ask('/api/crawl/batch', { body: { urls, timeout: 20 } });
    expect([status, json.distributed, json.stats]).toEqual([200, false, null]);
    expect(json.results.map((each: { status: string }) => each.status)).toEqual([
      'success',
      'success',
      'success',
      'failed',
      'failed',
      'failed',
    ]);
    expect(json.results[2]).toEqual(json.results[0]);
    expect(json.results[0].content.length).toBeGreaterThan(10);
    expect((await ask(`/api/crawl/batch/${json.session_id}`)).json).toEqual(json);
  });

  test.each([
    [undefined, 'Shop\nTea'],
    ['text', 'Shop\nTea'],
    ['markdown', '# Shop\n\n[Tea](SITE/tea)'],
    ['article', '# Shop\n\n[Tea](SITE/tea)', { content_of: 'page' }],
    ['html', '<h1>Shop</h1><a href=tea>Tea</a>'],
    ['none', null],
  ])('content %s', async (content, expected, about: object = {}) => {
    const site = await openSite();
    const { ask } = await openApi();
    const body = '<h1>Shop</h1><a href=tea>Tea</a>';
    site.on('/shop', (_, response) => void response.setHeader('content-type', 'text/html').end(body));
    const options = content === undefined ? {} : { content };
    const { json } = await ask('/api/crawl/batch', { body: { urls: [site.url('/shop')], options, timeout: 20 } });
    expect(json.results[0]).toMatchObject({
      status: 'success',
      content: expected?.replace('SITE', site.origin) ?? null,
      ...about,
    });
  });

  test('an unknown content is refused with the known ones', async () => {
    const { ask } = await openApi();
    const { json } = await ask('/api/crawl/batch', { body: { urls: ['http://a.test/'], options: { content: 'pdf' } } });
    expect(json).toMatchObject({
      code: 'usage',
      detail: 'expected options.content to be one of none, text, markdown, article, html, got "pdf"',
    });
  });

  test('a client that leaves cancels its batch, unless it sent a key; the same key gets the same answer', async () => {
    const site = await openSite();
    const { ask } = await openApi();
    const urls = [site.url('/page/1')];
    const headers = { 'idempotency-key': 'k1' };
    const [one, two] = await Promise.all([
      ask('/api/crawl/batch', { body: { urls, timeout: 20 }, headers }),
      ask('/api/crawl/batch', { body: { urls, timeout: 20 }, headers }),
    ]);
    expect(one?.json).toEqual(two?.json);
    const other = await ask('/api/crawl/batch', { body: { urls: ['http://127.0.0.1:9/'], timeout: 20 }, headers });
    expect(other.json).toMatchObject({ code: 'wrong_state' });
    const async = await ask('/api/crawl/batch', { body: { urls, timeout: 20 }, headers: { prefer: 'Respond-Async' } });
    expect(async.status).toBe(202);
    const answer = async (): Promise<string> =>
      (await ask(`/api/crawl/batch/${async.json.session_id}`)).json.results[0].status;
    await expect.poll(answer).toBe('success');
  });

  test('a batch is in the audit from its beginning, once', async () => {
    const { ask } = await openApi();
    let isOver = false;
    const batch = ask('/api/crawl/batch', { body: { urls: ['http://127.0.0.1:9/'], timeout: 3 } });
    void batch.then(() => {
      isOver = true;
    });
    const audited = async () => (await ask('/api/audit')).json.entries;
    await expect.poll(audited).toMatchObject([{ action: 'batch' }]);
    expect(isOver).toBe(false);
    const { session_id: target } = (await batch).json;
    expect(await audited()).toMatchObject([{ target }]);
  });

  test('a folder that cannot be written is reported as such, and not as a time-out', async () => {
    const site = await openSite();
    const crawlers = await folderOf({
      'pictures.ts': `import { defineCrawler } from '${DEFINE}';
export default defineCrawler({
  name: 'pictures',
  steps: { page: { run: ({ page, download }) => download([page.url + '?file']) } },
});`,
    });
    const { ask, folder } = await openApi({ CRAWLERS_DIR: crawlers });
    // A file in the place of the run's folder.
    const run = batchRunOf('local', 'k1', () => '');
    await writeFile(join(folder, run), '');
    const body = { urls: [site.url('/page/1'), site.url('/hang')], options: { crawler: 'pictures' }, timeout: 20 };
    const { status, json } = await ask('/api/crawl/batch', { body, headers: { 'idempotency-key': 'k1' } });
    expect([status, json]).toMatchObject([503, { code: 'unavailable', detail: expect.stringContaining(run) }]);
  });

  test('a crawler that cannot be loaded is not reported as unknown', async () => {
    const crawlers = await folderOf({ 'broken.ts': "throw new Error('no tea');" });
    const { ask } = await openApi({ CRAWLERS_DIR: crawlers });
    const batch = { body: { urls: ['http://a.test/'], options: { crawler: 'broken' } } };
    for (const { status, json } of [await ask('/api/crawl/batch', batch), await ask('/api/crawlers/broken/graph')])
      expect([status, json]).toMatchObject([400, { code: 'usage', detail: expect.stringContaining('no tea') }]);
    expect(await ask('/api/crawlers/nix/graph')).toMatchObject({ status: 404, json: { code: 'unknown_crawler' } });
  });

  test('no fleet: 503 at once', async () => {
    const { ask } = await openApi();
    const { status, json, headers } = await ask('/api/crawl/batch', {
      body: { urls: ['http://a.test/'], distributed: true },
    });
    expect([status, json.code, headers.has('retry-after')]).toEqual([503, 'unavailable', true]);
    expect((await ask('/api/crawl/distributed/status')).json.distributed_available).toBe(false);
  });
});

async function folderOf(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'trawl-crawlers-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return folder;
}
