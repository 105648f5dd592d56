import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { freePort } from '../../test/support/servers/machine.ts';
import { LOCAL } from '../broad.ts';
import { runMeasured, TRAWL } from '../measured-process.ts';
import { pageUrl } from '../origin.ts';
import { type Bench, fetchTimes } from '../rows.ts';
import type { HostSeen, Seen } from './mixed-site.ts';
import { INTERVAL_MS } from './polite.ts';
import { hostAddresses } from './polite-hosts.ts';

/** Figures of a crawl. Percentages are pages per second, from the start of the crawl to the group's last page, of the pace that the hosts allow. */
export interface MixedFigures {
  /** Percentage of the ordinary hosts. */
  readonly percent: number;
  readonly rssMb: number;
  /** The shortest time between two requests to one host, by the site's clock, divided by the interval. */
  readonly soonest: number;
}

/** Pages of each host. */
const PAGES = 15;
/** One in this many names is slow. */
const SLOW_EVERY = 100;
const NAME_SECONDS = 5;

/**
 * Crawls hosts by names, 1 % of which take five seconds to resolve, and the others 50 ms. The percentage of the slow ones allows for
 * these five seconds.
 */
export async function slowNames(bench: Bench, hosts: number): Promise<MixedFigures & { readonly slowPercent: number }> {
  const slowOnes = hosts / SLOW_EVERY;
  const names = Array.from({ length: hosts }, (_, n) => `${n < slowOnes ? 'slow' : 'quick'}-${n}.bench.test`);
  const nameServer = fork(join(import.meta.dirname, '../name-server.ts'));
  try {
    const [address] = (await once(nameServer, 'message')) as [string];
    const flags = ['--dns-servers', address];
    const crawl = { name: 'names', hosts: names, flags, isEndless: false };
    const { began, seen, rssMb } = await mixedCrawl(bench, crawl, ['127.0.0.1'], []);
    const [slow, quick] = [groupOf(seen, 'slow-'), groupOf(seen, 'quick-')];
    return {
      percent: percentOf(quick, hosts - slowOnes, began, 0),
      slowPercent: percentOf(slow, slowOnes, began, NAME_SECONDS),
      rssMb,
      soonest: soonestOf(seen),
    };
  } finally {
    nameServer.kill();
  }
}

/** Crawls hosts beside as many others that accept connections and never answer, until the good ones are done. */
export async function silentHosts(bench: Bench, count: number): Promise<MixedFigures> {
  const [good, silent] = [hostAddresses(count), hostAddresses(count, '127.3')];
  const hosts = good.flatMap((host, n) => [host, silent[n] ?? '']);
  const crawl = { name: 'silent', hosts, flags: [], isEndless: true };
  const { began, seen, rssMb } = await mixedCrawl(bench, crawl, good, silent);
  return { percent: percentOf(groupOf(seen, '127.2.'), count, began, 0), rssMb, soonest: soonestOf(seen) };
}

interface MixedCrawl {
  readonly name: string;
  readonly hosts: readonly string[];
  readonly flags: readonly string[];
  /** Some hosts would be tried for hours, so the crawl is interrupted when the others are done. */
  readonly isEndless: boolean;
}

async function mixedCrawl(
  bench: Bench,
  { name, hosts, flags, isEndless }: MixedCrawl,
  answering: readonly string[],
  silent: readonly string[],
) {
  const port = await freePort();
  const expected = (hosts.length - silent.length) * PAGES;
  const args = [`${port}`, `${expected}`, answering.join(), silent.join()];
  const site = fork(join(import.meta.dirname, 'mixed-site.ts'), args);
  try {
    await once(site, 'message');
    const urls: string[] = [];
    for (let n = 0; n < PAGES; n++) for (const host of hosts) urls.push(pageUrl(`http://${host}:${port}`, name, n));
    const over = once(site, 'message');
    const began = Date.now();
    const measured = await runMeasured(TRAWL, ['crawl', '-', '--run', name, '--json', ...LOCAL, ...flags], {
      folder: bench.folder,
      input: urls.join('\n'),
      ...(isEndless ? { until: over } : {}),
    });
    const { length } = await fetchTimes(join(bench.folder, 'output', name));
    if (length < expected) throw new Error(`expected ${expected} records of ${name}, got ${length}`);
    await over;
    return { began, seen: await seenBy(site), rssMb: measured.usage.maxRssMb };
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

function groupOf(seen: Seen, prefix: string): HostSeen[] {
  return Object.entries(seen).flatMap(([host, each]) => (host.startsWith(prefix) ? [each] : []));
}

/** @param moreSeconds additional seconds that these hosts are allowed */
function percentOf(group: readonly HostSeen[], hosts: number, began: number, moreSeconds: number): number {
  const pages = group.reduce((sum, host) => sum + host.pages, 0);
  if (pages !== hosts * PAGES) throw new Error(`expected ${hosts * PAGES} pages, got ${pages}`);
  const seconds = (Math.max(...group.map(({ lastAt }) => lastAt)) - began) / 1_000;
  return (100 * (PAGES + 1 + moreSeconds)) / seconds;
}

function soonestOf(seen: Seen): number {
  return Math.min(...Object.values(seen).map(({ soonestMs }) => soonestMs)) / INTERVAL_MS;
}
