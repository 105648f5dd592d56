import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';
import { installPackages } from '../support/servers/debian.ts';

const PROGRAM = process.env.CHROMIUM ?? '/usr/bin/chromium';

/** Installs Debian's Chromium if it is missing and the user is root: once, before all tests. */
export function needChromium(): void {
  if (!existsSync(PROGRAM)) installPackages('chromium');
  if (!existsSync(PROGRAM)) throw new Error(`${PROGRAM} is missing: sudo apt-get install chromium, or set CHROMIUM`);
}

export async function openChromium(): Promise<Browser> {
  return await chromium.launch({
    executablePath: PROGRAM,
    // A container has no user namespaces for its sandbox, and often a small /dev/shm.
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
  });
}
