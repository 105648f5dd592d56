import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { count } from '../../shared/control/format.ts';
import { busyDashboard } from './busy-dashboard.ts';
import { openPage } from './dashboard.ts';

const LETTERS = 10_000;
const LONGEST_MS = 200;

const busy = busyDashboard({ letters: LETTERS, beat: true });

interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  /** Microseconds on a processor: what other processes do meanwhile doesn't count. */
  readonly tdur?: number;
  readonly dur?: number;
  readonly args?: { readonly name?: string };
}

/** The longest task of the page's main thread while something is done, in milliseconds, and how many tasks there were. */
async function longestTask(page: Page, act: () => Promise<void>): Promise<{ ms: number; tasks: number }> {
  await busy.browser.startTracing(page, { categories: ['toplevel', 'disabled-by-default-devtools.timeline'] });
  await act();
  const { traceEvents } = JSON.parse((await busy.browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] };
  const main = new Set(
    traceEvents
      .filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
      .map(({ pid, tid }) => `${pid} ${tid}`),
  );
  const tasks = traceEvents.filter(
    ({ name, ph, pid, tid }) => ph === 'X' && name.endsWith('RunTask') && main.has(`${pid} ${tid}`),
  );
  return { ms: Math.max(...tasks.map(({ tdur, dur = 0 }) => tdur ?? dur)) / 1_000, tasks: tasks.length };
}

test.each([
  ['the overview', '#/', 'Paused hosts', 200],
  ['runs', '#/runs', 'run-01', 200],
  ['5 000 hosts', '#/hosts', 'site-', 101],
  ['10 000 letters', '#/dead-letters', 'run-01', 101],
] as const)('%s: only one page of rows is shown, and no task blocks the browser', async (_, hash, text, mostRows) => {
  const page = await openPage(busy.browser, busy.api);
  await page.getByText('Live', { exact: true }).waitFor();
  const { ms, tasks } = await longestTask(page, async () => {
    await page.evaluate((to) => {
      location.hash = to;
    }, hash);
    await page.locator('main').getByText(text).first().waitFor();
    // Two ticks of the feed, and a refresh.
    await new Promise((resolve) => setTimeout(resolve, 3_500));
  });
  expect(tasks).toBeGreaterThan(10);
  expect(ms).toBeLessThan(LONGEST_MS);
  expect(await page.getByRole('row').count()).toBeLessThanOrEqual(mostRows);
  expect(await page.evaluate(() => document.querySelectorAll('*').length)).toBeLessThan(5_000);
});

test('a user can page through 5 000 hosts and 10 000 letters', async () => {
  const page = await openPage(busy.browser, busy.api);
  await page.goto(`${busy.api.url}/#/hosts`);
  await page.getByRole('row').nth(100).waitFor();
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByText('101–200').waitFor();
  await page.getByRole('button', { name: 'Back' }).click();
  await page.getByText('1–100').waitFor();
  await page.goto(`${busy.api.url}/#/dead-letters`);
  await page.getByText(/^10 001 dead letters\. Each is kept for a day\.$/).waitFor();
  for (let first = 101; first <= 1_201; first += 100) {
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByText(`${count(first)}–${count(first + 99)} of 10 001`).waitFor();
  }
});
