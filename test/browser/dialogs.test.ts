import type { Locator, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { busyDashboard } from './busy-dashboard.ts';
import { flawsOf, openPage, picture, TWO_LOOKS } from './dashboard.ts';

const busy = busyDashboard();

/** Every dialog: its name, the page that has it, its button, and a text that it shows before it can be confirmed. */
const DIALOGS: readonly (readonly [name: string, hash: string, button: string | RegExp, says: string])[] = [
  ['pause-run', '#/runs/run-06', 'Pause run run-06', 'Nothing more of it is released'],
  ['resume-run', '#/runs/run-03', 'Resume run run-03', 'Resume run run-03?'],
  ['seal-run', '#/runs/run-06', 'Seal run run-06', 'No more seeds will come'],
  ['cancel-run', '#/runs/run-06', 'Cancel run run-06', '450 waiting URLs will be dropped'],
  ['pause-all', '#/', 'Pause all', 'Nothing more is released'],
  ['resume-all', '#/', 'Resume all', 'Including runs that were paused'],
  ['pause-host', '#/hosts', /^Pause host/, 'No run asks it for anything'],
  ['resume-host', '#/', 'Resume host site-7.example', 'Ends its pause'],
  ['limit-host', '#/hosts', /^Limit host/, 'If a run has a slower rate, that one counts'],
  ['forget-host', '#/hosts', 'Forget host site-9.example', 'will be forgotten'],
  ['replay', '#/dead-letters', 'Replay all', 'letters of 2 runs'],
  ['delete', '#/dead-letters', 'Delete all', 'letters will be deleted'],
  ['forget-url', `#/url?url=${encodeURIComponent('https://site-3.example/')}`, 'Forget it', 'will be forgotten'],
  ['forget-all', '#/url', 'Forget all', 'will be forgotten'],
];

/** The button of a dialog, on its page. */
async function openerOf(page: Page, hash: string, name: string | RegExp): Promise<Locator> {
  await page.goto(`${busy.api.url}/${hash}`);
  if (String(name).startsWith('Forget host'))
    await page.getByLabel('Steer a host by name').fill(String(name).slice('Forget host '.length));
  const opener = page.getByRole('button', { name, ...(typeof name === 'string' ? { exact: true } : {}) }).first();
  await opener.waitFor();
  return opener;
}

describe.each(TWO_LOOKS)('$name', ({ name: look, colorScheme, viewport }) => {
  test('each dialog is accessible, counts, closes on Escape, and returns the focus', async () => {
    const page = await openPage(busy.browser, busy.api, { viewport, colorScheme, mayFail: true });
    const found: string[] = [];
    for (const [name, hash, button, says] of DIALOGS) {
      const opener = await openerOf(page, hash, button);
      await opener.click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText(says).first().waitFor();
      found.push(...(await flawsOf(page)).map((flaw) => `${name}: ${flaw}`));
      const focused = await page.evaluate(() => document.activeElement?.outerHTML.slice(0, 80) ?? '');
      if (!/<input|Leave it|<button type="button">/.test(focused)) found.push(`${name}: begins at ${focused}`);
      await picture(page, `dialog-${name}-${look}`);
      for (let i = 0; i < 8; i++) {
        await page.keyboard.press('Tab');
        const isOutside = await page.evaluate(() => {
          const { activeElement: at } = document;
          return at !== null && at !== document.body && at.closest('dialog') === null;
        });
        if (isOutside) found.push(`${name}: the focus left the dialog`);
      }
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      const isBack = await opener.evaluate((element) => element === document.activeElement);
      if (!isBack) found.push(`${name}: the focus did not return`);
    }
    expect(found).toEqual([]);
  });
});

test('after an action the focus is on the button that replaces its own or, if there is none, on the title', async () => {
  const page = await openPage(busy.browser, busy.api);
  await page.goto(`${busy.api.url}/#/runs`);
  const { keyboard } = page;
  const press = async (button: string, verb: string): Promise<void> => {
    await page.getByRole('button', { name: button, exact: true }).focus();
    await keyboard.press('Enter');
    const submit = page.getByRole('dialog').getByRole('button', { name: verb, exact: true });
    await expect.poll(() => submit.isEnabled()).toBe(true);
    await submit.focus();
    await keyboard.press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  };
  const focused = (): Promise<string> =>
    page.evaluate(() => {
      const at = document.activeElement;
      return `${at?.tagName} ${at?.getAttribute('aria-label') ?? at?.textContent}`;
    });
  await press('Pause run run-08', 'Pause');
  await page.getByRole('button', { name: 'Resume run run-08' }).waitFor();
  expect(await focused()).toBe('BUTTON Resume run run-08');
  await press('Resume run run-08', 'Resume');
  await page.getByRole('button', { name: 'Pause run run-08' }).waitFor();
  expect(await focused()).toBe('BUTTON Pause run run-08');
  await press('Cancel run run-08', 'Cancel run');
  await page.getByRole('button', { name: 'Cancel run run-08' }).waitFor({ state: 'detached' });
  await expect.poll(focused).toBe('H1 Runs');
});

test.each(['#/', '#/runs', '#/runs/run-06', '#/dead-letters', '#/url', '#/new', '#/doctor'])(
  'Tab visits every control of %s once, visibly, starting with the skip link, and leaves the page',
  async (hash) => {
    const page = await openPage(busy.browser, busy.api);
    // Following a link starts at the title, opening the page at its top.
    await page.goto(`${busy.api.url}/${hash}`);
    await page.reload();
    await page.getByText('Live', { exact: true }).waitFor();
    await page.locator('main').getByRole('button').or(page.locator('main a')).first().waitFor();
    const stops: string[] = [];
    const unseen: string[] = [];
    for (let i = 0; i < 400; i++) {
      await page.keyboard.press('Tab');
      const stop = await page.evaluate(() => {
        const at = document.activeElement;
        if (at === null || at === document.body) return undefined;
        const { outlineStyle, outlineWidth } = getComputedStyle(at);
        const { top, bottom, left } = at.getBoundingClientRect();
        const isSeen = outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 2 && left >= 0;
        const covered = document.elementFromPoint(left + 4, (top + bottom) / 2);
        const isOver = covered === null || !(at.contains(covered) || covered.contains(at));
        const name = `${at.getAttribute('aria-label') ?? at.getAttribute('placeholder') ?? at.textContent}`;
        return { name, isSeen: isSeen && !isOver };
      });
      if (stop === undefined) break;
      stops.push(stop.name);
      if (!stop.isSeen) unseen.push(stop.name);
    }
    expect(unseen).toEqual([]);
    expect(stops.slice(0, 3)).toEqual(['Skip to content', 'Trawl', 'Overview']);
    expect(stops.length).toBeLessThan(400);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('H1');
  },
);

test('a command is copied, if need be by a second method, or else selected for copying by keyboard', async () => {
  const COMMAND = 'trawl cancel run-06 --local';
  const permissions = ['clipboard-read', 'clipboard-write'];
  for (const refused of [[], ['clipboard'], ['clipboard', 'copying']]) {
    const page = await openPage(busy.browser, busy.api, { permissions });
    await page.evaluate((names) => {
      const refuse = (): Promise<never> =>
        Promise.reject(new DOMException('Write permission denied.', 'NotAllowedError'));
      if (names.includes('clipboard')) Object.defineProperty(navigator.clipboard, 'writeText', { value: refuse });
      if (names.includes('copying')) document.execCommand = () => false;
    }, refused);
    await page.evaluate(() => {
      location.hash = '#/runs/run-06';
    });
    await page.getByRole('button', { name: 'Cancel run run-06' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Copy the command' }).click();
    if (refused.length < 2) await dialog.getByRole('status').getByText('Copied').waitFor();
    else {
      await dialog.getByRole('status').getByText('Selected: press Ctrl-C').waitFor();
      await page.keyboard.press('Control+C');
    }
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(COMMAND);
  }
});
