import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { count, counted } from '../../shared/control/format.ts';
import { busyDashboard } from './busy-dashboard.ts';
import { beatWorkers } from './busy-store.ts';
import { act, openPage, picture, violationsOf } from './dashboard.ts';

const busy = busyDashboard();

async function stateOf(run: string): Promise<string> {
  return ((await (await fetch(`${busy.api.url}/api/runs/${run}`)).json()) as { state: string }).state;
}

async function said(page: Page, text: string | RegExp): Promise<void> {
  await page.locator('.result').getByText(text).waitFor();
}

test('a run can be paused, resumed, sealed and cancelled, and each dialog shows its command', async () => {
  const page = await openPage(busy.browser, busy.api);
  await page.goto(`${busy.api.url}/#/runs/run-06`);
  const paused = await act(page, 'Pause run run-06', 'Pause', "the site's owner called");
  expect(paused).toContain(`trawl pause run-06 --reason 'the site'\\''s owner called'`);
  await said(page, 'running → paused');
  expect(await stateOf('run-06')).toBe('paused');
  await page.getByText("the site's owner called").first().waitFor();
  expect(await act(page, 'Resume run run-06', 'Resume')).toContain('trawl resume run-06');
  await said(page, 'paused → running');
  expect(await act(page, 'Seal run run-06', 'Seal')).toContain('trawl seal run-06');
  await said(page, 'sealed');
  await page.getByRole('button', { name: 'Cancel run run-06' }).click();
  await page.getByText(/450 waiting URLs will be dropped/).waitFor();
  // The result is shown long enough to be in the picture.
  await page.getByText('is sealed').waitFor({ state: 'hidden' });
  expect(await violationsOf(page)).toEqual([]);
  await picture(page, 'dialog-cancel');
  await page.getByRole('button', { name: 'Leave it' }).click();
  expect(await stateOf('run-06')).toBe('running');
  expect(await act(page, 'Cancel run run-06', 'Cancel run')).toContain('trawl cancel run-06');
  await said(page, 'running → cancelled');
  expect(await stateOf('run-06')).toBe('cancelled');
});

test('all runs can be paused and resumed from the overview', async () => {
  await beatWorkers(busy.workplace.folder);
  const page = await openPage(busy.browser, busy.api);
  await page.getByRole('link', { name: 'crawler-0' }).waitFor();
  await page.getByRole('link', { name: '251' }).waitFor();
  await page.getByText('Bottlenecks').waitFor();
  await picture(page, 'overview');
  expect(await act(page, 'Pause all', 'Pause all', 'deploy')).toContain('trawl pause --all --reason deploy');
  await said(page, /\d+ runs paused/);
  expect(await stateOf('run-10')).toBe('paused');
  expect(await act(page, 'Resume all', 'Resume all')).toContain('trawl resume --all');
  await said(page, /\d+ runs resumed/);
  expect(await stateOf('run-10')).toBe('running');
});

test('a host can be paused, resumed and limited', async () => {
  // An invalid rate is refused, which the browser logs.
  const page = await openPage(busy.browser, busy.api, { mayFail: true });
  await page.goto(`${busy.api.url}/#/hosts`);
  const name = page.getByLabel('Steer a host by name');
  await name.fill('site-9.example');
  expect(await act(page, 'Pause host site-9.example', 'Pause', 'asked to')).toContain(
    "trawl pause --host site-9.example --reason 'asked to'",
  );
  await said(page, 'Host site-9.example is paused');
  await page.getByLabel('Show').selectOption('paused');
  await page.getByRole('row').filter({ hasText: 'site-9.example' }).getByText('by hand: asked to').waitFor();
  expect(await act(page, 'Resume host site-9.example', 'Resume')).toContain('trawl resume --host site-9.example');
  await said(page, 'asked again');
  await page.getByRole('button', { name: 'Limit host site-9.example' }).first().click();
  await page.getByRole('dialog').getByLabel('Rate').fill('fast');
  await page.getByRole('dialog').getByText('trawl limit site-9.example fast').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Limit', exact: true }).click();
  await page.getByRole('alert').getByText('expected rate to be').waitFor();
  await page.getByRole('dialog').getByLabel('Rate').fill('30/min');
  await page.getByRole('dialog').getByLabel('Reason').fill('it is slow');
  await page.getByRole('dialog').getByRole('button', { name: 'Limit', exact: true }).click();
  await said(page, 'limited to 30/min');
});

test('dead letters can be filtered, counted, replayed and deleted', async () => {
  const page = await openPage(busy.browser, busy.api);
  await page.goto(`${busy.api.url}/#/dead-letters`);
  await page.getByText(/^25\d dead letters\./).waitFor();
  await page.getByLabel('Reason').selectOption('http_4xx');
  await page.getByText(/^1 dead letter selected/).waitFor();
  const deleted = await act(page, 'Delete these', 'Delete');
  expect(deleted).toContain('1 letter will be deleted.');
  expect(deleted).toContain('trawl dlq purge --reason http_4xx');
  await said(page, '1 deleted.');
  await page.goto(`${busy.api.url}/#/dead-letters?host=site-200.example`);
  await page.getByText(/^1 dead letter selected/).waitFor();
  const replayed = await act(page, 'Replay these', 'Replay');
  expect(replayed).toContain('1 letter of 1 run.');
  expect(replayed).toContain('trawl dlq replay --host site-200.example');
  await said(page, '1 letter replayed');
});

test('a URL can be looked up and forgotten', async () => {
  const page = await openPage(busy.browser, busy.api);
  await page.goto(`${busy.api.url}/#/url`);
  await page.getByRole('textbox', { name: 'URL' }).fill('https://site-3.example/');
  await page.keyboard.press('Enter');
  await page.getByRole('row').filter({ hasText: 'run-01' }).first().waitFor();
  const one = await act(page, 'Forget it', 'Forget', 'it has moved');
  expect(one).toContain('trawl forget https://site-3.example/');
  expect(one).toMatch(/[01] marks? will be forgotten/);
  await said(page, /[01] marks? forgotten/);
});

test('the URLs of a host, or all URLs, can be counted and forgotten', async () => {
  const page = await openPage(busy.browser, busy.api);
  await page.goto(`${busy.api.url}/#/hosts`);
  await page.getByLabel('Steer a host by name').fill('site-760.example');
  const host = await act(page, 'Forget host site-760.example', 'Forget');
  expect(host).toContain('trawl forget --host site-760.example');
  expect(host).toMatch(/marks? will be forgotten/);
  await said(page, /forgotten/);
  const dry = await fetch(`${busy.api.url}/api/forget`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ all: true, dryRun: true }),
  });
  const { forgotten, kept, letters } = (await dry.json()) as Record<'forgotten' | 'kept' | 'letters', number>;
  expect(Math.min(forgotten, kept, letters)).toBeGreaterThan(0);
  await page.goto(`${busy.api.url}/#/url`);
  const all = await act(page, 'Forget all', 'Forget', 'a new start');
  expect(all).toContain('trawl forget --all');
  expect(all).toContain(
    `${counted(forgotten, 'mark')} will be forgotten, and ${counted(letters, 'dead letter')} deleted.`,
  );
  expect(all).toContain(`${count(kept)} stay: their URLs wait or are in flight.`);
  await said(page, `${counted(forgotten, 'mark')} forgotten`);
  await page.goto(`${busy.api.url}/#/dead-letters`);
  await page.getByText('There are none.').waitFor();
});

test('the audit lists all of these actions', async () => {
  const page = await openPage(busy.browser, busy.api);
  await page.goto(`${busy.api.url}/#/audit`);
  await page
    .getByRole('row')
    .filter({ hasText: 'pause run' })
    .filter({ hasText: "the site's owner called" })
    .first()
    .waitFor();
  const rows = [
    ['delete letters', ''],
    ['forget', 'a new start'],
    ['limit host', 'it is slow'],
    ['pause fleet', 'deploy'],
  ] as const;
  for (const [did, reason] of rows)
    await page.getByRole('row').filter({ hasText: did }).filter({ hasText: reason }).first().waitFor();
  await picture(page, 'audit');
});
