import { join } from 'node:path';
import { AT_FULL_SPEED } from '../../test/support/full-speed.ts';
import { byTurns, ratiosOf } from '../by-turns.ts';
import { Figures } from '../figures.ts';
import { runMeasured, TRAWL } from '../measured-process.ts';
import type { Bench } from '../rows.ts';
import type { Row } from '../table.ts';
import { type Shop, writeShop } from './site.ts';

const PAGES = 30_000;
/** The crawler of the guide, unchanged: three steps, schemas, selectors, and links with `kept`. */
const CRAWLER = join(import.meta.dirname, '../../examples/shop.ts');
/** Lists are longer than any usual depth. */
const ALL_LINKS = ['--follow', '--max-depth', '1000'];

const WAYS = { page: ALL_LINKS, shop: ['--crawler', CRAWLER] } as const;
type Way = keyof typeof WAYS;

/**
 * Crawls a shop by turns: with three steps, and with the default crawler, which follows links to the same pages. The ratio is of pages
 * per CPU second, round by round.
 */
export async function threeStepRows(bench: Bench): Promise<Row[]> {
  const shop = await writeShop(bench.folder, bench.origin, PAGES);
  const usOf = await byTurns(['page', 'shop'] as const, bench.rounds, (way) => usPerPage(bench, shop, way));
  const [page, steps] = [usOf('page'), usOf('shop')];
  return [
    ['a shop, default crawler, CPU µs per page', new Figures(page).text(), '', ''],
    ['a shop, three steps, CPU µs per page', new Figures(steps).text(), '', ''],
    ["  pages per CPU second, of the default crawler's", ratiosOf(page, steps).text(2), '≥ 0.85', ''],
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
