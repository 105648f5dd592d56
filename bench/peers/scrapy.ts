import { execFile } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { tryRun } from '../../test/support/servers/machine.ts';
import { INTERVAL_MS } from '../polite/polite.ts';
import { hostAddresses, startHosts } from '../polite/polite-hosts.ts';
import { type Bench, CONCURRENCY } from '../rows.ts';
import { writeList, writeUrls } from './list.ts';
import { Missing, type PeerFigures } from './peer.ts';

const run = promisify(execFile);

const PAGES = 5_000;
/** The same hosts and pages as in Trawl's broad row. */
const BROAD = { hosts: 2_000, pages: 25 };
/** Seconds of a polite crawl: a whole one would take Scrapy minutes. */
const BUDGET_S = 30;
const SPIDER = join(import.meta.dirname, 'crawl_by_scrapy.py');

/** Settings recommended by Scrapy's guide to broad crawls, and no console. */
const RECOMMENDED = {
  LOG_LEVEL: 'ERROR',
  COOKIES_ENABLED: 'False',
  RETRY_ENABLED: 'False',
  TELNETCONSOLE_ENABLED: 'False',
};
const AT_FULL_SPEED = {
  ...RECOMMENDED,
  ROBOTSTXT_OBEY: 'False',
  CONCURRENT_REQUESTS: String(CONCURRENCY),
  CONCURRENT_REQUESTS_PER_DOMAIN: String(CONCURRENCY),
};
/** The pace that Trawl keeps. By default Scrapy randomises its delay by half. */
const POLITE = {
  LOG_LEVEL: 'ERROR',
  // Otherwise most requests within the budget would be for robots.txt.
  ROBOTSTXT_OBEY: 'False',
  DOWNLOAD_DELAY: '1',
  RANDOMIZE_DOWNLOAD_DELAY: 'False',
};
const TUNED = {
  ...RECOMMENDED,
  ...POLITE,
  CONCURRENT_REQUESTS: String(BROAD.hosts),
  CONCURRENT_REQUESTS_PER_DOMAIN: '1',
  SCHEDULER_PRIORITY_QUEUE: 'scrapy.pqueues.DownloaderAwarePriorityQueue',
  REACTOR_THREADPOOL_MAXSIZE: '200',
};

interface ScrapyPoliteFigures extends PeerFigures {
  /** Pages per second, in percent of what the hosts allow. */
  readonly percent: number;
  /** The shortest time between two requests to one host, by the site's clock, divided by the interval. */
  readonly soonest: number;
}

/** The Scrapy that is installed on this machine. */
export class Scrapy {
  readonly version: string;

  private constructor(version: string) {
    this.version = version;
  }

  static find(): Scrapy | Missing {
    const version = /^Scrapy (\S+)/.exec(tryRun('scrapy', ['version']) ?? '')?.[1];
    if (version !== undefined) return new Scrapy(version);
    return new Missing('Scrapy is left out, because it is not installed: sudo apt-get install python3-scrapy');
  }

  /** Crawls pages of the one fast host. */
  async crawl(bench: Bench): Promise<PeerFigures> {
    const urls = await writeList(bench, 'scrapy', PAGES);
    const { pages, ...figures } = await crawlBy(bench, urls, AT_FULL_SPEED);
    if (pages !== PAGES) throw new Error(`expected ${PAGES} pages of Scrapy, got ${pages}`);
    return figures;
  }

  /** Crawls many hosts at 60/min each, for the first {@link BUDGET_S} seconds. */
  async crawlPolitely(bench: Bench, how: 'as it comes' | 'tuned'): Promise<ScrapyPoliteFigures> {
    const site = await startHosts(hostAddresses(BROAD.hosts), {});
    try {
      const urls = await writeUrls(bench.folder, 'scrapy-broad', site.urls('scrapy', BROAD.pages));
      const { pages: _, ...figures } = await crawlBy(bench, urls, how === 'tuned' ? TUNED : POLITE, BUDGET_S);
      const { soonestMs } = await site.seen();
      const allowedPerSecond = (BROAD.hosts * 1_000) / INTERVAL_MS;
      const percent = (100 * figures.pagesPerSecond) / allowedPerSecond;
      return { ...figures, percent, soonest: soonestMs / INTERVAL_MS };
    } finally {
      site.stop();
    }
  }
}

async function crawlBy(
  { folder }: Bench,
  urls: string,
  settings: Readonly<Record<string, string>>,
  budgetS?: number,
): Promise<PeerFigures & { readonly pages: number }> {
  const [output, figures] = [join(folder, 'scrapy.jl'), join(folder, 'scrapy.json')];
  await rm(figures, { force: true });
  const told = { urls, figures, ...(budgetS === undefined ? {} : { budget: String(budgetS) }) };
  await run('scrapy', [
    ...['runspider', SPIDER, '-O', output],
    ...Object.entries(told).flatMap(([name, value]) => ['-a', `${name}=${value}`]),
    ...Object.entries(settings).flatMap(([name, value]) => ['-s', `${name}=${value}`]),
  ]);
  const { pages, seconds, cpuMs, rssMb } = JSON.parse(await readFile(figures, 'utf8'));
  return { pages, pagesPerSecond: pages / seconds, cpuUsPerPage: (1_000 * cpuMs) / pages, rssMb };
}
