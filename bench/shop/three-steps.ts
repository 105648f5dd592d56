import { join } from 'node:path';
import { AT_FULL_SPEED } from '../../test/support/full-speed.ts';
import { Figures } from '../figures.ts';
import { runMeasured, TRAWL } from '../measured-process.ts';
import type { Bench } from '../rows.ts';
import type { Row } from '../table.ts';
import { type Shop, writeShop } from './site.ts';

const PAGES = 30_000;
/** The crawler of the guide, as it is: three steps, schemas, selectors, and links that keep something. */
const CRAWLER = join(import.meta.dirname, '../../examples/shop.ts');
/** A list has more pages than any depth that is usual. */
const ALL_LINKS = ['--follow', '--max-depth', '1000'];

const WAYS = { page: ALL_LINKS, shop: ['--crawler', CRAWLER] } as const;
type Way = keyof typeof WAYS;

/**
 * Crawls a shop by turns: with three steps, and with the default crawler, which follows links to the same pages. The ratio is of pages
 * per CPU second, round by round.
 */
export async function threeStepRows(bench: Bench, atLeast = PAGES): Promise<Row[]> {
  const shop = await writeShop(bench.folder, bench.origin, atLeast);
  const found: Record<Way, number[]> = { page: [], shop: [] };
  const ratios: number[] = [];
  for (let round = 0; round < bench.rounds; round++) {
    const order: readonly Way[] = round % 2 === 0 ? ['page', 'shop'] : ['shop', 'page'];
    for (const way of order) found[way].push(await usPerPage(bench, shop, way));
    ratios.push((found.page.at(-1) ?? 0) / (found.shop.at(-1) ?? 1));
  }
  return [
    ['a shop, default crawler, CPU µs per page', new Figures(found.page).text(), '', ''],
    ['a shop, three steps, CPU µs per page', new Figures(found.shop).text(), '', ''],
    ["  pages per CPU second, of the default crawler's", new Figures(ratios).text(2), '≥ 0.85', ''],
  ];
}

async function usPerPage({ folder }: Bench, { seeds, pages }: Shop, way: Way): Promise<number> {
  const line = ['crawl', ...seeds, '--json', ...WAYS[way], ...AT_FULL_SPEED];
  const { stdout, usage } = await runMeasured(TRAWL, line, { folder });
  const { done, failed } = JSON.parse(stdout);
  if (done !== pages || failed !== 0)
    throw new Error(`expected ${pages} pages with ${way}, got ${done}, and ${failed} failed`);
  return (usage.cpuMs * 1_000) / pages;
}
