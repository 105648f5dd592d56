import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const PROGRAM = process.env.CHROMIUM ?? '/usr/bin/chromium';

/** Opens Debian's Chromium; where it is missing, root installs it. */
export async function openChromium(): Promise<Browser> {
  if (!existsSync(PROGRAM)) install();
  return await chromium.launch({
    executablePath: PROGRAM,
    // A container has no user namespaces for its sandbox, and often a small /dev/shm.
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
  });
}

function install(): void {
  if (process.getuid?.() !== 0) throw new Error(`${PROGRAM} is missing: apt-get install chromium, or set CHROMIUM`);
  process.stderr.write('Browser: installing chromium\n');
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  execFileSync('apt-get', ['update', '-qq'], { env, stdio: 'ignore' });
  execFileSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'chromium'], { env, stdio: 'ignore' });
}
