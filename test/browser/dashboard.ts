import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { AxeResults } from 'axe-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import { openWorkplace, type Workplace } from '../support/processes/trawl.ts';
import { freePort } from '../support/servers/machine.ts';

const ROOT = join(import.meta.dirname, '../..');
const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
/** Folder for pictures; without it, none are taken. */
const PICTURES = process.env.SCREENSHOTS;
const WIDE = { width: 1440, height: 900 };
const NARROW = { width: 400, height: 800 };
/** Widths and colours that every page must look well in. */
export const LOOKS = (['light', 'dark'] as const).flatMap((colorScheme) => [
  { name: `wide-${colorScheme}`, colorScheme, viewport: WIDE },
  { name: `narrow-${colorScheme}`, colorScheme, viewport: NARROW },
]);

/** Each width and each colour once, for parts of pages that are tested in every look. */
export const TWO_LOOKS = LOOKS.filter(({ colorScheme, viewport }) => (colorScheme === 'light') === (viewport === WIDE));

/** `trawl api`, started as a user would start it, with the address of its dashboard. */
export interface OpenApi {
  readonly workplace: Workplace;
  readonly url: string;
  readonly port: number;
  stop(): Promise<void>;
}

/** Starts an API over the local store of a folder, or over a fleet with the settings of its workplace. */
export async function openApi(
  args: readonly string[],
  { workplace, port }: { readonly workplace?: Workplace; readonly port?: number } = {},
): Promise<OpenApi> {
  if (!existsSync(join(ROOT, 'services/api/dashboard/dist/index.html')))
    throw new Error('the dashboard is not built: npm run dashboard');
  const place = workplace ?? (await openWorkplace());
  const at = port ?? (await freePort());
  const api = place.start(['api', '--api-port', String(at), ...args]);
  await api.says(/Listening on/);
  const stop = async (): Promise<void> => {
    api.signal('SIGTERM');
    await api.ended;
  };
  return { workplace: place, url: `http://127.0.0.1:${at}`, port: at, stop };
}

/** Opens a page whose console errors fail the test, except those that the test expects. */
export async function openPage(
  browser: Browser,
  api: Pick<OpenApi, 'url'>,
  options: BrowserContextOptions & { readonly mayFail?: boolean } = {},
): Promise<Page> {
  const { mayFail = false, ...more } = options;
  const context = await browser.newContext({ viewport: WIDE, colorScheme: 'light', ...more });
  const page = await context.newPage();
  page.setDefaultTimeout(10_000);
  const errors: string[] = [];
  const elsewhere: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' && !mayFail) errors.push(`${message.text()} ${message.location().url}`);
  });
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('request', (request) => {
    if (!request.url().startsWith(api.url) && !request.url().startsWith('blob:')) elsewhere.push(request.url());
  });
  await page.goto(`${api.url}/`);
  onTestFinished(async () => {
    await context.close();
    expect({ errors, elsewhere }).toEqual({ errors: [], elsewhere: [] });
  });
  return page;
}

/** Returns what axe finds wrong on the page, one line each. */
export async function violationsOf(page: Page): Promise<string[]> {
  // Injected through the browser, since the page allows no script but its own.
  if (!(await page.evaluate(() => 'axe' in globalThis))) {
    const cdp = await page.context().newCDPSession(page);
    const { readFile } = await import('node:fs/promises');
    await cdp.send('Runtime.evaluate', { expression: await readFile(AXE, 'utf8') });
  }
  const { violations } = await page.evaluate(
    () =>
      (globalThis as unknown as { axe: { run(on: unknown, options: object): Promise<AxeResults> } }).axe.run(document, {
        resultTypes: ['violations'],
        // The rules of WCAG 2.2, which axe has off by default.
        rules: { 'target-size': { enabled: true } },
      }) as Promise<AxeResults>,
  );
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`));
}

/** Returns what is wrong with the page: axe's findings, and everything that sticks out of the window. */
export async function flawsOf(page: Page): Promise<string[]> {
  const tooWide = await page.evaluate(() => {
    const scrolls = (element: Element | null): boolean =>
      element !== null && (getComputedStyle(element).overflowX !== 'visible' || scrolls(element.parentElement));
    const root = document.documentElement;
    const out = [...document.querySelectorAll('body *')].filter(
      (element) => element.getBoundingClientRect().right > root.clientWidth + 1 && !scrolls(element),
    );
    const named = out.map((element) => `${element.tagName}.${element.className} sticks out: ${element.textContent}`);
    for (const node of document.querySelectorAll('svg g:has(> rect)')) {
      const [rect, ...texts] = [...node.children].map((each) => each.getBoundingClientRect());
      if (texts.some(({ left, right }) => left < (rect?.left ?? 0) || right > (rect?.right ?? 0)))
        named.push(`a text sticks out of its step: ${node.textContent}`);
    }
    return root.scrollWidth > root.clientWidth ? ['the page scrolls sideways', ...named] : named;
  });
  return [...(await violationsOf(page)), ...tooWide.map((each) => each.slice(0, 160))];
}

/** Saves a picture of the page as `SCREENSHOTS/<name>.png`. */
export async function picture(page: Page, name: string): Promise<void> {
  if (PICTURES === undefined) return;
  await mkdir(PICTURES, { recursive: true });
  await page.screenshot({ path: join(PICTURES, `${name}.png`) });
}

/** Presses a button that opens a dialog, then the dialog's own button. Returns the text of the dialog. */
export async function act(page: Page, button: string, verb: string, reason?: string): Promise<string> {
  await page.getByRole('button', { name: button, exact: true }).first().click();
  const dialog = page.getByRole('dialog');
  if (reason !== undefined) await dialog.getByLabel('Reason').fill(reason);
  const submit = dialog.getByRole('button', { name: verb, exact: true });
  await expect.poll(() => submit.isEnabled()).toBe(true);
  const said = await dialog.innerText();
  await submit.click();
  await dialog.waitFor({ state: 'detached' });
  return said;
}
