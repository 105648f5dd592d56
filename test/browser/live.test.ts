import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { AT_FULL_SPEED } from '../support/full-speed.ts';
import { openWorkplace } from '../support/processes/trawl.ts';
import { TestSite } from '../support/site.ts';
import { LONG_HOSTILE } from './busy-store.ts';
import { openChromium } from './chromium.ts';
import { flawsOf, LOOKS, type OpenApi, openApi, openPage, picture } from './dashboard.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await openChromium();
});
afterAll(() => browser?.close());

async function openLocal(): Promise<OpenApi> {
  const api = await openApi(['--local', ...AT_FULL_SPEED], { workplace: await openWorkplace() });
  onTestFinished(() => api.stop());
  return api;
}

async function post(api: OpenApi, path: string, body: object): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const { ok, status } = await fetch(`${api.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!ok) throw new Error(`${path} was answered with ${status}`);
}

/** A paused run, in which offered URLs keep waiting. */
async function openPaused(api: OpenApi): Promise<void> {
  await post(api, '/api/runs', { run: 'waits', seeds: [] });
  await post(api, '/api/runs/waits/pause', { reason: 'a test' });
}

async function offer(api: OpenApi, from: number, count: number): Promise<void> {
  const urls = Array.from({ length: count }, (_, i) => `https://a.example/${from + i}`);
  await post(api, '/api/runs/waits/offers', { urls });
}

async function waitingOf(page: Page): Promise<string> {
  const figure = page.locator('.figures > div').filter({ hasText: 'Waiting' });
  return await figure.locator('dd').first().innerText();
}

test('an answer that takes longer than the refresh interval still arrives', async () => {
  const api = await openLocal();
  await openPaused(api);
  await offer(api, 0, 3);
  const page = await openPage(browser, api);
  let asked = 0;
  await page.route('**/api/hosts?*', async (route) => {
    asked++;
    await new Promise((resolve) => setTimeout(resolve, 7_000));
    await route.continue().catch(() => {});
  });
  await page.getByRole('navigation').getByRole('link', { name: 'Hosts' }).click();
  await page.getByText('a.example').first().waitFor({ timeout: 20_000 });
  expect(asked).toBe(1);
}, 60_000);

test('figures move without reloading, and only changes of the connection are read out', async () => {
  const api = await openLocal();
  await openPaused(api);
  await offer(api, 0, 3);
  const page = await openPage(browser, api);
  await page.evaluate(() => {
    const told: string[] = [];
    Object.assign(globalThis, { stayed: true, told });
    const selector = '[role=status], [role=alert], [aria-live]';
    new MutationObserver((changes) => {
      for (const { target } of changes) {
        const region = (target instanceof Element ? target : target.parentElement)?.closest(selector);
        if (region) told.push(region.textContent ?? '');
      }
    }).observe(document.body, { subtree: true, childList: true, characterData: true });
  });
  await expect.poll(() => waitingOf(page)).toBe('3');
  await offer(api, 100, 40);
  await expect.poll(() => waitingOf(page)).toBe('43');
  await page.getByRole('link', { name: 'waits' }).first().click();
  await offer(api, 200, 7);
  await expect.poll(() => waitingOf(page)).toBe('50');
  const seen = await page.evaluate(() => globalThis as unknown as { stayed: boolean; told: string[] });
  expect(await page.evaluate(() => 'stayed' in globalThis)).toBe(true);
  expect(seen.told?.filter((text) => text !== 'Live' && text !== '') ?? []).toEqual([]);
});

test('a hidden tab sends no requests, and catches up when it is visible again', async () => {
  const api = await openLocal();
  await openPaused(api);
  const page = await openPage(browser, api);
  await expect.poll(() => waitingOf(page)).toBe('0');
  const asked: string[] = [];
  // In a headless browser every tab is visible, so the test sends the page the event that it would get.
  const look = async (isHidden: boolean): Promise<void> =>
    await page.evaluate((hidden) => {
      Object.defineProperty(document, 'hidden', { value: hidden, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    }, isHidden);
  await look(true);
  page.on('request', (request) => asked.push(request.url()));
  await offer(api, 0, 9);
  // Longer than any of the page's own intervals except that of letters.
  await new Promise((resolve) => setTimeout(resolve, 6_000));
  expect(asked).toEqual([]);
  expect(await waitingOf(page)).toBe('0');
  await look(false);
  await expect.poll(() => waitingOf(page)).toBe('9');
  await page.getByText('Live', { exact: true }).waitFor();
});

test('when events stop while the API stays up, the page says so and recovers by itself', async () => {
  const api = await openLocal();
  await openPaused(api);
  const page = await openPage(browser, api, { mayFail: true });
  await expect.poll(() => waitingOf(page)).toBe('0');
  await page.route('**/api/events*', (route) => route.abort());
  await page.context().setOffline(true);
  await page.evaluate(() => {
    location.hash = '#/runs/waits';
  });
  await page.getByText(/^No new figures/).waitFor();
  await offer(api, 0, 5);
  await page.context().setOffline(false);
  await page.unroute('**/api/events*');
  await page.getByText('Live', { exact: true }).waitFor();
  await expect.poll(() => waitingOf(page)).toBe('5');
});

test('a link with an impossible run id says so, and the figures stay live', async () => {
  const api = await openLocal();
  await openPaused(api);
  const page = await openPage(browser, api, { mayFail: true });
  await page.getByText('Live', { exact: true }).waitFor();
  const refused = page.waitForResponse((response) => /\/api\/runs\/No_run/.test(response.url()));
  const events: string[] = [];
  page.on('request', (request) => {
    if (request.url().includes('/api/events')) events.push(request.url());
  });
  await page.evaluate(() => {
    location.hash = '#/runs/No_run';
  });
  await refused;
  await page.getByText('expected a run id').waitFor();
  await page.getByRole('link', { name: 'Overview' }).click();
  await offer(api, 0, 5);
  await expect.poll(() => waitingOf(page)).toBe('5');
  expect(events).toEqual([]);
});

test('a hostile page title is shown as plain text on the page of its URL', async () => {
  const site = new TestSite({ pages: 1 });
  await site.start();
  onTestFinished(() => site.stop());
  const escaped = LONG_HOSTILE.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  site.on('/hostile', (_, response) => {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
    response.end(`<!doctype html><title>${escaped}</title><p>text`);
  });
  const api = await openLocal();
  await post(api, '/api/runs', { run: 'hostile', seeds: [site.url('/hostile')] });
  for (const { name, colorScheme, viewport } of LOOKS) {
    const page = await openPage(browser, api, { viewport, colorScheme });
    await page.goto(`${api.url}/#/runs/hostile`);
    await page.locator('.title').getByText('finished').waitFor();
    await page.goto(`${api.url}/#/url?url=${encodeURIComponent(site.url('/hostile'))}`);
    await page
      .getByRole('row')
      .getByText(/<script>window.harmed=1/)
      .waitFor();
    expect(await flawsOf(page)).toEqual([]);
    await picture(page, `hostile-title-${name}`);
    expect(await page.evaluate(() => 'harmed' in globalThis)).toBe(false);
    await page.context().close();
  }
});
