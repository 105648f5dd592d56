import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { freePort } from '../../test/support/servers/machine.ts';
import { pageUrl } from '../origin.ts';
import type { Seen } from './polite-site.ts';

/** A running site of many hosts. */
export interface PoliteHosts {
  /** Returns the URLs of this many pages of each host, with every host's first page before any second page. */
  urls(name: string, pages: number): string[];
  seen(): Promise<Seen>;
  stop(): void;
}

interface PoliteHostsOptions {
  readonly answerMs?: number;
  /** A folder made by {@link makeCertificates}. If given, the hosts speak HTTPS. */
  readonly certificates?: string;
}

/** Returns loopback addresses, one for each host. */
export function hostAddresses(hosts: number, prefix = '127.2'): string[] {
  return Array.from({ length: hosts }, (_, n) => `${prefix}.${Math.floor(n / 250)}.${1 + (n % 250)}`);
}

/** Starts a host at each of these addresses, all in one child process. */
export async function startHosts(
  addresses: readonly string[],
  { answerMs = 0, certificates }: PoliteHostsOptions,
): Promise<PoliteHosts> {
  const port = await freePort();
  const site = fork(join(import.meta.dirname, 'polite-site.ts'), [`${port}`, `${answerMs}`, ...addresses], {
    env: { ...process.env, BENCH_CERTIFICATES: certificates },
    // The time between requests is Infinity if no host was asked twice, and JSON has no Infinity.
    serialization: 'advanced',
  });
  await once(site, 'message');
  const scheme = certificates === undefined ? 'http' : 'https';
  return {
    urls: (name, pages) =>
      Array.from({ length: pages }, (_, n) =>
        addresses.map((address) => pageUrl(`${scheme}://${address}:${port}`, name, n)),
      ).flat(),
    seen: async () => {
      const told = once(site, 'message');
      site.send('seen?');
      const [seen] = (await told) as [Seen];
      return seen;
    },
    stop: () => site.kill(),
  };
}
