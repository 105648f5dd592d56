import { readFile } from 'node:fs/promises';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { AT_FULL_SPEED } from '../support/full-speed.ts';
import { type Fleet, openFleet } from '../support/processes/fleet.ts';
import { openChromium } from './chromium.ts';
import { openApi, openPage, picture } from './dashboard.ts';

const PAGES = 12;

let browser: Browser;
beforeAll(async () => {
  browser = await openChromium();
});
afterAll(() => browser?.close());

/** A fleet with a worker and an API, and its dashboard. */
async function openFleetPage(): Promise<{ readonly fleet: Fleet; readonly page: Page }> {
  const fleet = await openFleet({ pages: PAGES }, { API_TOKENS: 'ops:admin:a-long-enough-secret-for-tests' });
  const worker = fleet.workplace.start(['work', ...AT_FULL_SPEED]);
  const api = await openApi([...AT_FULL_SPEED], { workplace: fleet.workplace });
  onTestFinished(async () => {
    worker.signal('SIGTERM');
    await Promise.all([worker.ended, api.stop()]);
  });
  // Without a session the first requests are refused, which the browser logs.
  const page = await openPage(browser, api, { mayFail: true });
  return { fleet, page };
}

async function recordsOf(page: Page, press: () => Promise<unknown>): Promise<string[]> {
  const [download] = await Promise.all([page.waitForEvent('download'), press()]);
  const lines = (await readFile(await download.path(), 'utf8')).trimEnd().split('\n');
  return lines.map((line) => (JSON.parse(line) as { url: string }).url).sort();
}

test('with the mouse alone, a user can sign in, start a fleet run and download its records', async () => {
  const { fleet, page } = await openFleetPage();
  await page.getByLabel('Token').fill('a-long-enough-secret-for-tests');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('Live', { exact: true }).waitFor();
  await page.getByRole('link', { name: 'New crawl' }).click();
  await page.getByLabel('Seeds').fill(fleet.site.url('/'));
  await page.getByLabel('Follow the links of pages').click();
  await page.getByText(`trawl produce ${fleet.site.url('/')} --follow`).waitFor();
  await picture(page, 'form');
  await page.getByRole('button', { name: 'Start' }).click();
  await page.getByRole('heading', { level: 1, name: /^Run / }).waitFor();
  await page.locator('.title').getByText('finished').waitFor();
  await picture(page, 'fleet-run');
  const urls = await recordsOf(page, () => page.getByRole('link', { name: 'Download JSON lines' }).click());
  expect(urls.length).toBeGreaterThanOrEqual(PAGES);
});

test('with the keyboard alone, a user can sign in, start a fleet run and download its records', async () => {
  const { fleet, page } = await openFleetPage();
  const { keyboard } = page;
  const focusOn = async (name: string | RegExp): Promise<void> => {
    for (let i = 0; i < 60; i++) {
      const focused = await page
        .locator(':focus')
        .first()
        .ariaSnapshot({ timeout: 1_000 })
        .catch(() => '');
      if (focused.split('\n')[0]?.match(name)) return;
      await keyboard.press('Tab');
    }
    throw new Error(`the keyboard never came to ${name}`);
  };
  await page.getByRole('heading', { name: 'Sign in to Trawl' }).waitFor();
  await focusOn(/textbox "Token/);
  await keyboard.type('a-long-enough-secret-for-tests');
  await keyboard.press('Enter');
  await page.getByText('Live', { exact: true }).waitFor();
  await focusOn(/link "New crawl"/);
  await keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'New crawl' }).waitFor();
  await focusOn(/textbox "Seeds/);
  await keyboard.type(fleet.site.url('/'));
  await focusOn(/checkbox "Follow/);
  await keyboard.press('Space');
  await focusOn(/button "Start"/);
  await keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: /^Run / }).waitFor();
  await page.locator('.title').getByText('finished').waitFor();
  const urls = await recordsOf(page, async () => {
    await focusOn(/link "Download JSON lines"/);
    await keyboard.press('Enter');
  });
  expect(urls.length).toBeGreaterThanOrEqual(PAGES);
});

test('a user can sign in by a link, add URLs to an open run, change colours and sign out', async () => {
  const { fleet, page } = await openFleetPage();
  const producing = fleet.workplace.start(['produce', '-', '--run', 'open-run', ...AT_FULL_SPEED], '', {
    holdsInput: true,
  });
  await expect.poll(() => fleet.redis.exists(`${fleet.keyPrefix}run:open-run`), { timeout: 30_000 }).toBe(1);
  await page.getByLabel('Token').fill('wrong');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('no token has this secret').waitFor();
  // Like the link that the API prints at its first start.
  await page.evaluate(() => {
    location.hash = 'token=a-long-enough-secret-for-tests';
  });
  await page.getByText('Live', { exact: true }).waitFor();
  expect(page.url()).not.toContain('secret');
  await page.getByRole('link', { name: 'open-run' }).first().click();
  await page.getByLabel('URLs to add, one a line').fill(`${fleet.site.url('/page/1')}\nnot a URL\n`);
  await page.getByRole('button', { name: 'Add 2 URLs' }).click();
  await page.getByText('2 URLs taken, 1 of them malformed; 0 already known.').waitFor();
  await page.getByRole('button', { name: 'Colours: auto; switch to light' }).click();
  await page.getByRole('button', { name: 'Colours: light; switch to dark' }).click();
  await expect.poll(() => page.evaluate(() => document.documentElement.dataset.theme)).toBe('dark');
  await page.getByRole('button', { name: 'Was it delivered?' }).click();
  await page
    .locator('main')
    .getByText(/webhook/)
    .last()
    .waitFor();
  await page.getByRole('button', { name: 'Sign out ops' }).click();
  await page.getByRole('heading', { name: 'Sign in to Trawl' }).waitFor();
  producing.signal('SIGTERM');
});
