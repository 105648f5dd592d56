import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { TestSite } from '../site.ts';
import { serveApi, serveNews, serveQuotes } from './others.ts';
import { serveShop } from './shop.ts';

const EXAMPLES = join(import.meta.dirname, '../../../examples');

/** The path of an example. */
export function example(name: string): string {
  return join(EXAMPLES, `${name}.ts`);
}

/** Serves all pages that the examples and the guides crawl. */
export function servePractice(site: TestSite, products?: number): void {
  site.robots = '';
  site.on('/sitemap.xml', (_, response) => void response.writeHead(404).end());
  serveShop(site, products);
  serveQuotes(site);
  serveNews(site);
  serveApi(site);
}

/** Starts a site for one test, with all pages that the examples and the guides crawl. */
export async function openPractice(): Promise<TestSite> {
  const site = new TestSite();
  await site.start();
  onTestFinished(() => site.stop());
  servePractice(site);
  return site;
}
