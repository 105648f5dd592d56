import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Workplace } from '../support/processes/trawl.ts';
import { busyDashboard } from './busy-dashboard.ts';
import { beatWorkers, HOSTILE_URL, LONG_HOST } from './busy-store.ts';
import { flawsOf, LOOKS, type OpenApi, openApi, openPage, picture } from './dashboard.ts';

type Place = readonly [name: string, hash: string, text: string];

/** Pages of a busy fleet, each with a text that shows it has loaded. */
const BUSY: readonly Place[] = [
  ['overview', '#/', 'Paused hosts'],
  ['runs', '#/runs', 'run-01'],
  ['run', '#/runs/run-03', 'crawler page'],
  ['run-ended', '#/runs/run-04', 'cancelled'],
  ['hosts', '#/hosts', 'site-'],
  ['workers', '#/workers', 'crawler-0'],
  ['worker', '#/workers/crawler-1', 'tasks in hand'],
  ['dead-letters', '#/dead-letters', 'run-01'],
  ['url', `#/url?url=${encodeURIComponent('https://site-3.example/')}`, 'run-01'],
  ['new-crawl', '#/new', 'Seeds'],
  ['audit', '#/audit', 'Nobody has changed'],
  ['doctor', '#/doctor', 'settings'],
  ['not-found', '#/nowhere', 'no such page'],
];

/** The same pages of a fleet that has done nothing yet. */
const EMPTY: readonly Place[] = [
  ['overview', '#/', 'No runs yet.'],
  ['runs', '#/runs', 'No runs yet.'],
  ['run', '#/runs/nix', 'nix'],
  ['hosts', '#/hosts', 'No host'],
  ['workers', '#/workers', 'need no workers'],
  ['worker', '#/workers/nix', 'no longer alive'],
  ['dead-letters', '#/dead-letters', 'There are none.'],
  ['url', `#/url?url=${encodeURIComponent('https://a.example/')}`, 'not known, so a new run takes it'],
];

const busy = busyDashboard({ isHostile: true });

/** An API over a store that stays empty, as tests only read it. */
let empty: OpenApi;
beforeAll(async () => {
  const workplace = new Workplace(await mkdtemp(join(tmpdir(), 'trawl-empty-')), {});
  empty = await openApi(['--local', '--output-dir', workplace.folder], { workplace });
});
afterAll(async () => {
  await empty?.stop();
  await empty?.workplace.close();
});

describe.each(LOOKS)('$name', ({ name: look, colorScheme, viewport }) => {
  test('every page loads, is accessible, and is no wider than the window', async () => {
    const page = await openPage(busy.browser, busy.api, { viewport, colorScheme });
    const found: string[] = [];
    for (const [name, hash, text] of BUSY) {
      await beatWorkers(busy.workplace.folder);
      await page.goto(`${busy.api.url}/${hash}`);
      await page.locator('main').getByText(text).first().waitFor();
      await page.getByText('Live', { exact: true }).waitFor();
      found.push(...(await flawsOf(page)).map((flaw) => `${name}: ${flaw}`));
      await picture(page, `busy-${name}-${look}`);
    }
    expect(found).toEqual([]);
  });

  test('every page of an empty fleet loads, is accessible, and says that there is nothing yet', async () => {
    // Missing things are answered with 404, which the browser logs.
    const page = await openPage(busy.browser, empty, { viewport, colorScheme, mayFail: true });
    const found: string[] = [];
    for (const [name, hash, text] of EMPTY) {
      await page.goto(`${empty.url}/${hash}`);
      await page.locator('main').getByText(text).first().waitFor();
      found.push(...(await flawsOf(page)).map((flaw) => `${name}: ${flaw}`));
      await picture(page, `empty-${name}-${look}`);
    }
    expect(found).toEqual([]);
  });

  test('foreign texts are shown as plain text, whatever they contain and however long they are', async () => {
    const page = await openPage(busy.browser, busy.api, { viewport, colorScheme });
    const found: string[] = [];
    const note = async (name: string): Promise<void> => {
      found.push(...(await flawsOf(page)).map((flaw) => `${name}: ${flaw}`));
      await picture(page, `hostile-${name}-${look}`);
    };
    await page.getByText(LONG_HOST).first().waitFor();
    await note('overview');
    await page.goto(`${busy.api.url}/#/hosts`);
    await page.getByLabel('Show').selectOption('paused');
    await page.getByText(LONG_HOST).first().waitFor();
    await note('hosts');
    await page.goto(`${busy.api.url}/#/dead-letters?reason=http_4xx`);
    await page.locator('main').getByText('hostile.example').first().waitFor();
    await note('letters');
    await page.locator('main').getByText('hostile.example').first().click();
    await page.getByText('<script>window.harmed=1</script>\\u202e').waitFor();
    await note('letter');
    await page.goto(`${busy.api.url}/#/url?url=${encodeURIComponent(`${HOSTILE_URL}${'x'.repeat(5_000)}`)}`);
    await page.getByText('not known, so a new run takes it').waitFor();
    await note('url');
    expect(await page.evaluate(() => 'harmed' in globalThis)).toBe(false);
    expect(await page.locator('img, script:not([src])').count()).toBe(0);
    expect(found).toEqual([]);
  });
});

test('the counts of a run of millions of pages fit into the boxes of its steps', async () => {
  const page = await openPage(busy.browser, busy.api);
  // Events would bring the run's real figures.
  await page.route('**/api/events*', (route) => route.fulfill({ contentType: 'text/event-stream', body: ':\n\n' }));
  await page.route('**/api/runs/run-04', async (route) => {
    const run = await (await route.fetch()).json();
    const many = { discovered: 12_345_678, done: 12_000_000, failed: 345_678 };
    await route.fulfill({ json: { ...run, ...many } });
  });
  await page.goto(`${busy.api.url}/#/runs/run-04`);
  await page.locator('svg').getByText('12 000 000 / 12 345 678').waitFor();
  expect(await flawsOf(page)).toEqual([]);
  await picture(page, 'run-of-millions');
  // The page asks again every few seconds: closed in the middle of that, the route above would reject after the test.
  await page.unrouteAll({ behavior: 'ignoreErrors' });
});

test('the page needs no exception in its Content-Security-Policy', async () => {
  const answer = await fetch(`${busy.api.url}/`);
  const policy = answer.headers.get('content-security-policy') ?? '';
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toContain('unsafe');
  const html = await answer.text();
  const script = /src="\.?\/?(\S+\.js)"/.exec(html)?.[1];
  // The names of this machine's files must not be in the script.
  expect(await (await fetch(`${busy.api.url}/${script}`)).text()).not.toMatch(/fileName:|jsxDEV/);
  expect(html).not.toMatch(/<style|style=|<script(?![^>]* src=)| on\w+=|https?:/);
});

test('a returning browser loads only what has changed', async () => {
  const page = await fetch(`${busy.api.url}/`);
  expect(page.headers.get('cache-control')).toBe('no-cache');
  expect(page.headers.get('etag')).not.toBeNull();
  const script = /src="\.?\/?(\S+\.js)"/.exec(await page.text())?.[1];
  expect((await fetch(`${busy.api.url}/${script}`)).headers.get('cache-control')).toMatch(/immutable$/);
  expect((await fetch(`${busy.api.url}/assets/nix.js`)).headers.get('cache-control')).toBe('no-store');
  expect((await fetch(`${busy.api.url}/api/fleet`)).headers.get('cache-control')).toBe('no-store');
});

test('the time until a letter expires is right even if the clock of the user is a day off', async () => {
  const page = await openPage(busy.browser, busy.api);
  await page.clock.setFixedTime(Date.now() + 30 * 3_600_000);
  await page.goto(`${busy.api.url}/#/dead-letters`);
  await page.getByText('Live', { exact: true }).waitFor();
  const kept = page.locator('tbody tr').first().locator('td').last();
  await expect.poll(() => kept.innerText()).toMatch(/^\d+ (h|min) \d+ /);
});
