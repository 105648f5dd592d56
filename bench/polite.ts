import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { freePort } from '../test/support/servers/machine.ts';
import { crawlMany } from './broad.ts';
import type { Measured } from './measured-process.ts';
import { pageUrl } from './origin.ts';
import type { Seen } from './polite-site.ts';
import type { Bench } from './rows.ts';

interface PoliteCrawl {
  readonly name: string;
  readonly hosts: number;
  /** Pages of each host. */
  readonly pages: number;
  readonly answerMs?: number;
  readonly workers: 'embedded' | number;
  readonly flags?: readonly string[];
}

export interface PoliteFigures {
  /** Pages per second over the whole crawl, in percent of what the hosts allow. */
  readonly percent: number;
  readonly cpuUsPerPage: number;
  readonly rssMb: number;
  /** The shortest time between two requests to one host, by the site's clock, divided by the interval. */
  readonly soonest: number;
}

/** The default pace: one request per second to each host. */
const INTERVAL_MS = 1_000;

/** Crawls many hosts at 60/min each, robots.txt included, with default settings. */
export async function politeCrawl(bench: Bench, crawl: PoliteCrawl): Promise<PoliteFigures> {
  const { name, hosts, pages, answerMs = 0, workers, flags = [] } = crawl;
  const port = await freePort();
  const addresses = Array.from({ length: hosts }, (_, n) => `127.2.${Math.floor(n / 250)}.${1 + (n % 250)}`);
  const site = fork(join(import.meta.dirname, 'polite-site.ts'), [`${port}`, `${answerMs}`, ...addresses]);
  try {
    await once(site, 'message');
    const urls: string[] = [];
    for (let n = 0; n < pages; n++)
      for (const address of addresses) urls.push(pageUrl(`http://${address}:${port}`, name, n));
    const began = performance.now();
    const measured = await crawlMany(bench, `${name}-${workers}`, workers, urls, flags, hosts * pages);
    const seconds = (measured.endedAt - began) / 1_000;
    const allowed = (hosts * pages) / (pages + 1 + answerMs / 1_000);
    const { soonestMs } = await seenBy(site);
    return {
      percent: (100 * (hosts * pages)) / seconds / allowed,
      cpuUsPerPage: (1_000 * sum(measured.processes, 'cpuMs')) / (hosts * pages),
      rssMb: Math.max(...measured.processes.map(({ usage }) => usage.maxRssMb)),
      soonest: soonestMs / INTERVAL_MS,
    };
  } finally {
    site.kill();
  }
}

async function seenBy(site: ChildProcess): Promise<Seen> {
  const told = once(site, 'message');
  site.send('seen?');
  const [seen] = (await told) as [Seen];
  return seen;
}

function sum(processes: readonly Measured[], field: 'cpuMs'): number {
  return processes.reduce((total, { usage }) => total + usage[field], 0);
}
