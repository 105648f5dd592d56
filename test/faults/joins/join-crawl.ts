import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AT_FULL_SPEED } from '../../support/full-speed.ts';
import { servePractice } from '../../support/practice/open.ts';
import { PRODUCTS } from '../../support/practice/shop.ts';
import { allDone } from '../harness/catalogue.ts';
import { type Crawl, type CrawlOptions, type Joined, type Made, openCrawl } from '../harness/crawl.ts';
import type { Round } from '../harness/row.ts';
import { recordsOf } from './check.ts';

interface JoinCrawlOptions extends Omit<CrawlOptions, 'pages' | 'trouble' | 'linked'> {
  /** Default: `parts`. */
  readonly crawler?: string;
  /** How often each join is made; default: the counts of the crawler `parts`. */
  readonly made?: Joined['made'];
  /** The path of the seed; default: `/all/`. */
  readonly seed?: string;
  /** Default: 40. */
  readonly products?: number;
  /** Serves more pages besides the practice shop. */
  readonly serve?: (crawl: Crawl) => void;
}

const SEED = '/all/';

/** The records of undisturbed runs, by crawler and number of products, for all rows of a file. */
const undisturbed = new Map<string, readonly Made[]>();

/** Prepares a crawl with joins without starting it. The expected records come from a crawl of the same site in one process. */
export async function openJoinCrawl(round: Round, options: JoinCrawlOptions = {}): Promise<Crawl> {
  const { seed = SEED, products = PRODUCTS, made = { offer: products, label: products, report: 1 } } = options;
  const { crawler = 'parts', env = {}, serve = () => {} } = options;
  const crawl = await openCrawl(round, {
    ...options,
    ...{ pages: 0, trouble: allDone([seed]), crawler },
    env: { CRAWLERS_DIR: join(import.meta.dirname, 'crawlers'), ...env },
  });
  const serveAll = (): void => {
    servePractice(crawl.site, products);
    serve(crawl);
  };
  serveAll();
  const found = `${crawler} of ${products}`;
  const records = undisturbed.get(found) ?? (await crawlAlone(crawl, crawler));
  undisturbed.set(found, records);
  crawl.joined = { made, records };
  for (const { step, url } of records) if (made[step] === undefined) crawl.expected.set(url, 'done');
  crawl.site.reset();
  serveAll();
  return crawl;
}

async function crawlAlone(crawl: Crawl, crawler: string): Promise<readonly Made[]> {
  const { site, workplace } = crawl;
  await workplace.json(['crawl', site.url(SEED), '--run', 'alone', '--crawler', crawler, ...AT_FULL_SPEED]);
  return await recordsOf(crawl, 'alone');
}

/** Settings of a worker that waits when its crawler reaches one of these points. */
export function holdingAt({ workplace }: Crawl, ...points: readonly string[]): Record<string, string> {
  return { HOLD_AT: points.join(), HOLD_UNTIL: folderOf(workplace) };
}

/** Releases the workers that wait at a point, now and later. */
export function letGo({ workplace }: Crawl, point: string): void {
  mkdirSync(folderOf(workplace), { recursive: true });
  writeFileSync(join(folderOf(workplace), point), '');
}

function folderOf({ folder }: Crawl['workplace']): string {
  return join(folder, 'let-go');
}
