import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { openWorkplace } from '../support/processes/trawl.ts';
import { TestSite } from '../support/site.ts';
import { openChromium } from './chromium.ts';
import { act, flawsOf, openApi, openPage, picture } from './dashboard.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await openChromium();
});
afterAll(() => browser?.close());

test('a crawl that was interrupted is shown as stopped, and the dashboard of a local API continues it', async () => {
  const site = new TestSite({ pages: 8 });
  await site.start();
  onTestFinished(() => site.stop());
  const urls = Array.from({ length: 8 }, (_, n) => site.url(`/page/${n + 1}`));
  const workplace = await openWorkplace();
  onTestFinished(() => workplace.close());
  const flags = ['--rate', '120/min', '--private-hosts', '127.0.0.0/8'];
  const crawl = workplace.start(['crawl', '--run', 'mine', ...flags, ...urls]);
  await expect.poll(() => site.requests.length, { timeout: 20_000 }).toBeGreaterThan(1);
  crawl.signal('SIGINT');
  await crawl.ended;
  const api = await openApi(['--local'], { workplace });
  onTestFinished(() => api.stop());
  const page = await openPage(browser, api);
  await page.goto(`${api.url}/#/runs`);
  await page.getByRole('row').filter({ hasText: 'mine' }).getByText('stopped').waitFor();
  await page.goto(`${api.url}/#/runs/mine`);
  await page.getByText('no process is crawling it').waitFor();
  expect(await flawsOf(page)).toEqual([]);
  await picture(page, 'stopped-run');
  expect(await act(page, 'Resume run mine', 'Resume')).toContain('trawl crawl --resume mine');
  await page.getByText('finished').first().waitFor();
  expect((await workplace.json(['status', 'mine', '--json'])).done).toBe(8);
});
