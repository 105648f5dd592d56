import { crawlMany } from '../broad.ts';
import type { Measured } from '../measured-process.ts';
import type { Bench } from '../rows.ts';
import { hostAddresses, startHosts } from './polite-hosts.ts';

interface PoliteCrawl {
  readonly name: string;
  readonly hosts: number;
  /** Pages of each host. */
  readonly pages: number;
  readonly answerMs?: number;
  readonly workers: 'embedded' | number;
  readonly flags?: readonly string[];
  /** A folder made by {@link makeCertificates}. If given, the hosts speak HTTPS. */
  readonly certificates?: string;
}

export interface PoliteFigures {
  /** Pages per second over the whole crawl, in percent of what the hosts allow. */
  readonly percent: number;
  readonly cpuUsPerPage: number;
  readonly rssMb: number;
  /** The shortest time between two requests to one host, by the site's clock, divided by the interval. */
  readonly soonest: number;
  /** Connections to the host that had the most of them, by the site's count. */
  readonly mostConnections: number;
}

/** The default pace: one request per second to each host. */
export const INTERVAL_MS = 1_000;

/** Crawls many hosts at 60/min each, robots.txt included, with default settings. */
export async function politeCrawl(bench: Bench, crawl: PoliteCrawl): Promise<PoliteFigures> {
  const { name, hosts, pages, answerMs = 0, workers, flags = [], certificates } = crawl;
  const site = await startHosts(hostAddresses(hosts), {
    answerMs,
    ...(certificates === undefined ? {} : { certificates }),
  });
  try {
    const urls = site.urls(name, pages);
    const began = performance.now();
    const measured = await crawlMany(bench, `${name}-${workers}`, workers, urls, flags, hosts * pages);
    const seconds = (measured.endedAt - began) / 1_000;
    const { soonestMs, mostConnections } = await site.seen();
    return {
      percent: (100 * (hosts * pages)) / seconds / allowedPerSecond(crawl),
      cpuUsPerPage: (1_000 * sum(measured.processes, 'cpuMs')) / (hosts * pages),
      rssMb: Math.max(...measured.processes.map(({ usage }) => usage.maxRssMb)),
      soonest: soonestMs / INTERVAL_MS,
      mostConnections,
    };
  } finally {
    site.stop();
  }
}

/** Returns the pages per second that the hosts allow, counting robots.txt and the time of the last answer. */
function allowedPerSecond({ hosts, pages, answerMs = 0 }: Pick<PoliteCrawl, 'hosts' | 'pages' | 'answerMs'>): number {
  return (hosts * pages) / (pages + 1 + answerMs / 1_000);
}

function sum(processes: readonly Measured[], field: 'cpuMs'): number {
  return processes.reduce((total, { usage }) => total + usage[field], 0);
}
