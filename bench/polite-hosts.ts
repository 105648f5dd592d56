import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { freePort } from '../test/support/servers/machine.ts';
import { pageUrl } from './origin.ts';
import type { Seen } from './polite-site.ts';

export interface PoliteHosts {
  /** So many pages of each host, the first of each first. */
  urls(name: string, pages: number): string[];
  seen(): Promise<Seen>;
  stop(): void;
}

interface PoliteHostsOptions {
  readonly answerMs?: number;
  /** A folder of {@link makeCertificates}: the hosts speak HTTPS. */
  readonly certificates?: string;
}

/** The addresses of so many hosts of this machine. */
export function hostAddresses(hosts: number): string[] {
  return Array.from({ length: hosts }, (_, n) => `127.2.${Math.floor(n / 250)}.${1 + (n % 250)}`);
}

/** Starts hosts at these addresses, in a process of their own. */
export async function startHosts(
  addresses: readonly string[],
  { answerMs = 0, certificates }: PoliteHostsOptions,
): Promise<PoliteHosts> {
  const port = await freePort();
  const site = fork(join(import.meta.dirname, 'polite-site.ts'), [`${port}`, `${answerMs}`, ...addresses], {
    env: { ...process.env, BENCH_CERTIFICATES: certificates },
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
