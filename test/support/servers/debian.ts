import { spawnSync } from 'node:child_process';
import { which } from './machine.ts';

/** Seconds between tries, and number of tries, while another process holds the lock of `apt-get`. */
const PAUSE_SECONDS = 5;
const TRIES = 60;

/**
 * Installs Debian packages if it runs as root on Debian, and says so; otherwise does nothing. Waits for others that install at the
 * same time, and starts no system services. Callers must check afterwards that they have what they need.
 */
export function installPackages(...packages: readonly string[]): void {
  if (process.getuid?.() !== 0 || which('apt-get') === undefined) return;
  process.stderr.write(`Missing here: apt-get install ${packages.join(' ')}\n`);
  apt('update');
  apt('install', '-y', '--no-install-recommends', ...packages);
}

function apt(...args: readonly string[]): void {
  const env = { ...process.env, RUNLEVEL: '1', DEBIAN_FRONTEND: 'noninteractive' };
  for (let tries = 1; tries <= TRIES; tries++) {
    const { status, stderr } = spawnSync('apt-get', ['-qq', ...args], { env, encoding: 'utf8' });
    if (status === 0 || !/could not get lock|unable to (?:acquire|lock)/i.test(stderr)) return;
    spawnSync('sleep', [String(PAUSE_SECONDS)]);
  }
}
