import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { AT_FULL_SPEED } from '../support/full-speed.ts';
import { Workplace } from '../support/processes/trawl.ts';
import { TestSite } from '../support/site.ts';
import { openChromium } from './chromium.ts';
import { act, flawsOf, LOOKS, type OpenApi, openApi, openPage, picture } from './dashboard.ts';

const SECRETS = { watch: 'watch-watch-watch-watch', send: 'send-send-send-send', ops: 'ops-ops-ops-ops-ops-ops' };
const TOKENS = { watch: 'read', send: 'submit', ops: 'admin' } as const;
type Name = keyof typeof TOKENS;

let browser: Browser;
/** Shared by all tests that don't change its tokens or its run. Each browser context has its own session. */
let api: OpenApi;
beforeAll(async () => {
  browser = await openChromium();
  api = await openGuarded();
});
afterAll(async () => {
  await browser?.close();
  await api?.stop();
  await api?.workplace.close();
});

function tokensOf(...names: readonly Name[]): Record<string, string> {
  return { API_TOKENS: names.map((name) => `${name}:${TOKENS[name]}:${SECRETS[name]}`).join(',') };
}

/** An API with an open run, which asks for tokens. */
async function openGuarded(): Promise<OpenApi> {
  const folder = await mkdtemp(join(tmpdir(), 'trawl-guarded-'));
  const workplace = new Workplace(folder, tokensOf('watch', 'send', 'ops'));
  const guarded = await openApi(['--local', ...AT_FULL_SPEED], { workplace });
  await fetch(`${guarded.url}/api/runs`, {
    method: 'POST',
    headers: { authorization: `Bearer ${SECRETS.ops}`, 'content-type': 'application/json' },
    body: JSON.stringify({ run: 'open-run', seeds: [] }),
  });
  return guarded;
}

async function signIn(page: Page, name: Name): Promise<void> {
  await page.getByLabel('Token').fill(SECRETS[name]);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('Live', { exact: true }).waitFor();
}

test('the sign-in form is accessible in every look', async () => {
  for (const { name, colorScheme, viewport } of LOOKS) {
    const page = await openPage(browser, api, { viewport, colorScheme, mayFail: true });
    await page.getByRole('heading', { name: 'Sign in to Trawl' }).waitFor();
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('INPUT');
    expect(await flawsOf(page)).toEqual([]);
    await picture(page, `sign-in-${name}`);
  }
});

test('when a session ends, the open page says so, and signing in again restores what was typed', async () => {
  const page = await openPage(browser, api, { mayFail: true });
  await signIn(page, 'ops');
  await page.getByRole('link', { name: 'New crawl' }).click();
  await page.getByLabel('Seeds').fill('https://half-typed.example/');
  // The page refreshes its figures by itself, so it might notice before the button is pressed.
  const pressed = Promise.withResolvers<void>();
  await page.route('**/api/**', async (route) => {
    if (route.request().method() === 'GET') await pressed.promise;
    await route.continue();
  });
  await page.context().clearCookies();
  await page.getByRole('button', { name: 'Start' }).click();
  pressed.resolve();
  await page.getByText('Your session has ended, or its token was removed.').waitFor();
  await page.unroute('**/api/**');
  expect(await page.getByLabel('Seeds').isVisible()).toBe(false);
  expect(await flawsOf(page)).toEqual([]);
  await picture(page, 'session-ended');
  await signIn(page, 'ops');
  expect(await page.getByLabel('Seeds').inputValue()).toBe('https://half-typed.example/');
  expect(await page.locator(':focus').ariaSnapshot()).toContain('heading "New crawl"');
  await expect.poll(() => page.title()).toBe('New crawl – Trawl');
});

test('when a token is removed while a dialog is open, the dialog closes and the page is hidden', async () => {
  const own = await openGuarded();
  onTestFinished(() => own.workplace.close());
  const page = await openPage(browser, own, { mayFail: true });
  await signIn(page, 'ops');
  await page.goto(`${own.url}/#/runs/open-run`);
  await page.getByRole('button', { name: 'Pause run open-run' }).click();
  await page.getByRole('dialog').waitFor();
  await own.stop();
  const again = own.workplace.start(['api', '--local', '--api-port', String(own.port), ...AT_FULL_SPEED], '', {
    env: tokensOf('watch', 'send'),
  });
  await again.says(/Listening on/);
  await page.getByText('Your session has ended, or its token was removed.').waitFor();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  expect(await page.getByText('open-run').first().isVisible()).toBe(false);
  await page.getByLabel('Token').fill(SECRETS.ops);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('no token has this secret').waitFor();
  await signIn(page, 'watch');
  await page.getByText('Token watch can only read.').waitFor();
  await page.getByRole('button', { name: 'Pause run open-run' }).waitFor({ state: 'detached' });
  again.signal('SIGTERM');
  await again.ended;
});

test('signing out leaves nothing behind', async () => {
  const page = await openPage(browser, api, { mayFail: true });
  await signIn(page, 'ops');
  await page.getByRole('link', { name: 'open-run' }).first().waitFor();
  await page.getByRole('button', { name: 'Sign out ops' }).click();
  await page.getByRole('heading', { name: 'Sign in to Trawl' }).waitFor();
  expect(await page.content()).not.toContain('open-run');
  expect(await page.getByText('Your session has ended').count()).toBe(0);
});

test.each([
  ['watch', ['Token watch can only read.'], []],
  ['send', ['Token send can read, start crawls and add URLs.'], ['URLs to add, one a line']],
] as const)('actions that token %s may not take are hidden, and the page says so', async (name, says, fields) => {
  const page = await openPage(browser, api, { mayFail: true });
  await signIn(page, name);
  for (const text of says) await page.getByText(text).waitFor();
  for (const hash of ['#/', '#/runs', '#/runs/open-run', '#/hosts', '#/dead-letters', '#/url']) {
    await page.goto(`${api.url}/${hash}`);
    await page.locator('main').getByRole('heading', { level: 1 }).waitFor();
    const action = /^(Pause|Resume|Seal|Cancel|Limit|Replay|Delete|Forget)/;
    expect([hash, await page.getByRole('button', { name: action }).count()]).toEqual([hash, 0]);
  }
  await page.goto(`${api.url}/#/runs/open-run`);
  await page.getByText('crawler page').waitFor();
  for (const field of fields) await page.getByLabel(field).waitFor();
  expect(await page.getByLabel('URLs to add, one a line').count()).toBe(fields.length);
  await page.goto(`${api.url}/#/new`);
  const needs = page.getByText('Starting a crawl needs a token with the role submit or admin.');
  if (name === 'watch') await needs.waitFor();
  else await page.getByLabel('Seeds').waitFor();
  await picture(page, `role-${name}`);
});

test('when a role is taken away while a dialog is open, the dialog says which role the token has', async () => {
  const page = await openPage(browser, api, { mayFail: true });
  await signIn(page, 'ops');
  await page.goto(`${api.url}/#/runs/open-run`);
  const opener = page.getByRole('button', { name: 'Pause run open-run' });
  await opener.click();
  const dialog = page.getByRole('dialog');
  await dialog.waitFor();
  // Another tab of this browser has signed in with less.
  await page.evaluate(async (token) => {
    await fetch('api/session', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token }),
    });
  }, SECRETS.watch);
  await dialog.getByRole('button', { name: 'Pause', exact: true }).click();
  await dialog.getByText('token watch has the role read; this needs the role admin').waitFor();
  await dialog.getByRole('button', { name: 'Leave it' }).click();
});

test('a delivered webhook can be sent again, with the same id', async () => {
  const site = new TestSite({ pages: 2 });
  await site.start();
  onTestFinished(() => site.stop());
  const ids: (string | undefined)[] = [];
  site.on('/hook', (request, response) => {
    ids.push(String(request.headers['webhook-id']));
    response.writeHead(204).end();
  });
  const page = await openPage(browser, api, { mayFail: true });
  await signIn(page, 'send');
  await page.getByRole('link', { name: 'New crawl' }).click();
  await page.getByLabel('Seeds').fill(site.url('/page/1'));
  await page.getByLabel('Name of the run').fill('hooked');
  await page.getByLabel('Webhook for the end of the run').fill(site.url('/hook'));
  expect(await page.getByLabel('Secret of the webhook').inputValue()).toMatch(/^whsec_/);
  await page.getByRole('button', { name: 'Start' }).click();
  await page.locator('.title').getByText('finished').waitFor();
  await expect.poll(() => ids.length).toBe(1);
  await page.getByRole('button', { name: 'Was it delivered?' }).click();
  await page.locator('main').getByText('delivered', { exact: true }).waitFor();
  const said = await act(page, 'Send again to the webhook of run hooked', 'Send again');
  expect(said).toContain('/api/runs/hooked/webhook/replay');
  await page.locator('.result').getByText('It will be sent again.').waitFor();
  await expect.poll(() => ids.length).toBe(2);
  expect(new Set(ids).size).toBe(1);
});
