import type { Browser } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import type { Workplace } from '../support/processes/trawl.ts';
import { beatWorkers, openBusyWorkplace } from './busy-store.ts';
import { openChromium } from './chromium.ts';
import { type OpenApi, openApi } from './dashboard.ts';

/** Chromium, and an API over a busy store. */
interface BusyDashboard {
  readonly browser: Browser;
  readonly workplace: Workplace;
  readonly api: OpenApi;
}

interface BusyDashboardOptions {
  readonly isHostile?: boolean;
  readonly letters?: number;
  /** Its workers are alive when the tests begin. */
  readonly beat?: boolean;
}

/** Opens both before the tests of a file and closes them afterwards. The returned object can be read from the first test on. */
export function busyDashboard({ beat = false, ...store }: BusyDashboardOptions = {}): BusyDashboard {
  const opened: { -readonly [K in keyof BusyDashboard]?: BusyDashboard[K] } = {};
  beforeAll(async () => {
    const workplace = await openBusyWorkplace(store);
    opened.workplace = workplace;
    await Promise.all([
      openChromium().then((browser) => {
        opened.browser = browser;
      }),
      openApi(['--local', '--output-dir', workplace.folder], { workplace }).then((api) => {
        opened.api = api;
      }),
    ]);
    if (beat) await beatWorkers(workplace.folder);
  });
  afterAll(async () => {
    await Promise.all([opened.browser?.close(), opened.api?.stop()]);
    await opened.workplace?.close();
  });
  return opened as BusyDashboard;
}
