import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Seed } from '../../../../services/producer/seeds.ts';
import { TestSite } from '../../../support/site.ts';

/** A site that runs until the test ends, without a robots.txt or a sitemap. */
export async function openSite(): Promise<TestSite> {
  const site = new TestSite();
  await site.start();
  onTestFinished(() => site.stop());
  for (const path of ['/robots.txt', '/sitemap.xml']) site.on(path, (_, response) => response.writeHead(404).end());
  return site;
}

/** Answers one path with a document. Returns its URL. */
export function serve(site: TestSite, path: string, body: string | Uint8Array, type = 'application/xml'): string {
  site.on(path, (_, response) => response.writeHead(200, { 'content-type': type }).end(body));
  return site.url(path);
}

/** A sitemap that lists these URLs. */
export function urlset(urls: readonly string[]): string {
  const entries = urls.map((url) => `<url><loc>${url}</loc><lastmod>2024-01-02</lastmod></url>`);
  return `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${entries.join('\n')}</urlset>`;
}

/** A sitemap index that names these sitemaps. */
export function sitemapIndex(urls: readonly string[]): string {
  return `<sitemapindex>${urls.map((url) => `<sitemap><loc>${url}</loc></sitemap>`).join('')}</sitemapindex>`;
}

/** Distinct URLs of pages. */
export function pages(count: number, prefix = 'https://example.com/page-'): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}${index}`);
}

/** A folder that is removed when the test ends. */
export function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'trawl-'));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

/** A page that may be a sitemap, as a seed. */
export function maybe(url: string): Seed {
  return { kind: 'maybe_sitemap', url };
}
