import { expect, onTestFinished, test } from 'vitest';
import { ChangingPages } from '../../support/changing-pages.ts';
import { AT_FULL_SPEED } from '../../support/full-speed.ts';
import { openWorkplace } from '../../support/processes/trawl.ts';
import { TestSite } from '../../support/site.ts';

const PAGES = 10;

async function setup(options: { readonly hasEtags?: boolean } = {}) {
  const site = new TestSite();
  await site.start();
  onTestFinished(() => site.stop());
  const pages = new ChangingPages(site, PAGES, options);
  const workplace = await openWorkplace();
  return {
    site,
    pages,
    workplace,
    crawl: async (...flags: readonly string[]) =>
      await workplace.json(['crawl', site.url('/sitemap.xml'), ...AT_FULL_SPEED, ...flags]),
  };
}

const all = (status: number) => Array.from({ length: PAGES }, (_, i) => `${status} /page/${i + 1}`).toSorted();

test('a second incremental crawl into the same folder sends conditional requests, and fetches only changed pages', async () => {
  const { pages, workplace, crawl } = await setup();
  const first = await crawl('--incremental');
  expect(first).toMatchObject({ done: PAGES, bytesSaved: 0 });
  expect(pages.takeAnswers()).toEqual(all(200));
  pages.change(4);
  const second = await crawl('--incremental');
  const saved = first.bytes - pages.bytes(4);
  expect(second).toMatchObject({ done: 1, skipped: PAGES - 1, bytes: pages.bytes(4), bytesSaved: saved });
  expect(pages.takeAnswers()).toEqual(['200 /page/4', ...all(304).filter((line) => !line.endsWith('/4'))].toSorted());
  expect((await workplace.records(second.run)).map(({ title }) => title)).toEqual(['Page 4']);
  expect(await crawl()).toMatchObject({ done: PAGES, skipped: 0 });
  expect(pages.answers.every(({ conditions }) => conditions === '')).toBe(true);
});

test('a page with just Last-Modified is requested conditionally, with that date as the server wrote it', async () => {
  const { pages, crawl } = await setup({ hasEtags: false });
  await crawl('--incremental');
  pages.takeAnswers();
  expect(await crawl('--incremental')).toMatchObject({ done: 0, skipped: PAGES });
  expect(pages.answers.map(({ conditions }) => conditions)).toEqual(Array(PAGES).fill('Thu, 01 Jan 2026 00:00:00 GMT'));
});

test('--recrawl-after skips younger pages, unless their sitemap has a newer lastmod', async () => {
  const { pages, crawl, workplace, site } = await setup();
  await crawl('--recrawl-after', '1h');
  pages.takeAnswers();
  pages.change(2, { lastmod: new Date().toISOString() });
  expect(await crawl('--recrawl-after', '1h')).toMatchObject({ discovered: 1, done: 1, duplicate: PAGES - 1 });
  expect(pages.takeAnswers()).toEqual(['200 /page/2']);
  const told = await workplace.run(['crawl', site.url('/page/3'), '--recrawl-after', '1h', ...AT_FULL_SPEED]);
  expect(told.stdout).toContain('1 known, none due again');
});

test('pages whose links are followed are fetched in full, and only the deepest ones conditionally', async () => {
  const { pages, workplace, site } = await setup();
  const crawl = async () =>
    await workplace.json([
      'crawl',
      site.url('/page/1'),
      '--incremental',
      '--follow',
      '--max-depth',
      '2',
      ...AT_FULL_SPEED,
    ]);
  await crawl();
  expect(pages.takeAnswers()).toEqual(['200 /page/1', '200 /page/2', '200 /page/3']);
  expect(await crawl()).toMatchObject({ done: 2, skipped: 1, bytesSaved: pages.bytes(3) });
  expect(pages.takeAnswers()).toEqual(['200 /page/1', '200 /page/2', '304 /page/3']);
});

test('two incremental crawls at once share what they remember about pages', async () => {
  const { pages, crawl } = await setup();
  const [one, two] = await Promise.all([crawl('--incremental'), crawl('--incremental')]);
  expect([one.failed, two.failed, one.done + one.skipped, two.done + two.skipped]).toEqual([0, 0, PAGES, PAGES]);
  pages.takeAnswers();
  expect(await crawl('--incremental')).toMatchObject({ done: 0, skipped: PAGES });
});

test('a resumed incremental crawl stays incremental, and refuses --recrawl-after', async () => {
  const { pages, workplace, site, crawl } = await setup();
  await crawl('--incremental');
  pages.takeAnswers();
  const asked = site.arrival('/page/2', 2);
  const held = workplace.start([
    'crawl',
    site.url('/sitemap.xml'),
    '--incremental',
    '--run',
    'again',
    ...AT_FULL_SPEED,
    '--rate',
    '10/s',
  ]);
  await asked;
  held.signal('SIGKILL');
  await held.ended;
  const refused = await workplace.run(['crawl', '--resume', 'again', '--recrawl-after', '1h']);
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('leave out --recrawl-after')]);
  const resumed = await workplace.json(['crawl', '--resume', 'again', '--rate', '10/s']);
  expect(resumed).toMatchObject({ run: 'again', done: 0, skipped: PAGES, failed: 0 });
  expect(resumed.bytesSaved).toBe(Array.from({ length: PAGES }, (_, i) => pages.bytes(i + 1)).reduce((a, b) => a + b));
});
