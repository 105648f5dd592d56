import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { doneRecord } from '../support/builders.ts';
import { openWorkplace } from '../support/processes/trawl.ts';
import { TestSite } from '../support/site.ts';
import { openChromium } from './chromium.ts';
import { flawsOf, openApi, openPage, picture, TWO_LOOKS } from './dashboard.ts';

const HOSTILE = '<img src=x onerror=alert(1)>\u202egnp.exe';

let browser: Browser;
beforeAll(async () => {
  browser = await openChromium();
});
afterAll(() => browser?.close());

test.each(TWO_LOOKS)(
  'the records of a run are shown page by page, as plain text ($name)',
  async ({ name, ...look }) => {
    const site = new TestSite({ pages: 1 });
    await site.start();
    onTestFinished(() => site.stop());
    const workplace = await openWorkplace();
    onTestFinished(() => workplace.close());
    await workplace.run(['crawl', '--run', 'shop', '--private-hosts', '127.0.0.0/8', site.url('/page/1')]);
    const records = Array.from({ length: 44 }, (_, n) =>
      doneRecord(`https://shop.example/product/${n}`, {
        run: 'shop',
        data: {
          name: n === 0 ? HOSTILE : `Product ${n}`,
          price: n + 0.5,
          offers: [{ at: 'w'.repeat(400) }],
          links: [],
        },
      }),
    );
    // After the record of the crawl, by the names of the files.
    const file = join(workplace.folder, 'output', 'shop', 'zz.jsonl');
    await writeFile(file, records.map((record) => `${JSON.stringify(record)}\n`).join(''));
    const api = await openApi(['--local'], { workplace });
    onTestFinished(() => api.stop());
    const page = await openPage(browser, api, look);
    await page.goto(`${api.url}/#/runs/shop`);
    await page.getByRole('button', { name: 'Show records' }).click();
    const table = page.getByRole('table', { name: 'Records' });
    await table.getByText('<img src=x onerror=alert(1)>\\u202egnp.exe').waitFor();
    expect(await table.getByRole('columnheader').allTextContents()).toEqual([
      'URL',
      'name',
      'price',
      'offers',
      'Whole',
    ]);
    await table.getByText('JSON').nth(1).click();
    await table.getByText('"url": "https://shop.example/product/0"').waitFor();
    expect(await flawsOf(page)).toEqual([]);
    await picture(page, `records-${name}`);
    const pages = page.getByRole('navigation', { name: 'Pages of records' });
    for (const part of ['1–20', '21–40', '41–45']) {
      await pages.getByText(part, { exact: true }).waitFor();
      if (part !== '41–45') await pages.getByRole('button', { name: 'Next' }).click();
    }
    await table.getByText('Product 43').waitFor();
    expect(await pages.getByRole('button', { name: 'Next' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Hide records' }).click();
    await table.waitFor({ state: 'detached' });
  },
);
