import { gzipSync } from 'node:zlib';
import { type Route, type SiteContent, send, type Visit } from './route.ts';

const HTML = 'text/html; charset=utf-8';

/**
 * The pages and sitemaps to crawl.
 *
 * | path                        | answer                                                                  |
 * |-----------------------------|-------------------------------------------------------------------------|
 * | `/`                         | a page that links to the first                                          |
 * | `/page/<n>`                 | page n of `pages`, linking to the next `linksPerPage`; 404 beyond        |
 * | `/robots.txt`               | `robots`                                                                |
 * | `/sitemap.xml`              | all pages                                                               |
 * | `/sitemap-index.xml`        | the index of `/sitemap/<k>.xml`, each with `pagesPerSitemap`            |
 * | the same with `.gz`         | as gzip files, the index listing gzip files                             |
 */
export const CONTENT: readonly Route[] = [
  [/^\/$/, ({ response }) => send(response, HTML, page('Home', ['/page/1'], 0))],
  [/^\/page\/(\d+)$/, answerPage],
  [/^\/robots\.txt$/, ({ response, site }) => send(response, 'text/plain', site.robots)],
  [/^\/sitemap\.xml(\.gz)?$/, ({ response, site, args: [gz] }) => sendXml(response, urlset(site, 1, site.pages), gz)],
  [/^\/sitemap-index\.xml(\.gz)?$/, ({ response, site, args: [gz] }) => sendXml(response, sitemapIndex(site, gz), gz)],
  [/^\/sitemap\/(\d+)\.xml(\.gz)?$/, answerSitemap],
];

/** The HTML of page `n` of a site. */
export function pageHtml(site: SiteContent, n: number): string {
  const links: string[] = [];
  for (let next = n + 1; next <= Math.min(site.pages, n + site.linksPerPage); next++) links.push(`/page/${next}`);
  return page(`Page ${n}`, links, site.pageBytes);
}

function answerPage({ response, site, args: [n] }: Visit): void {
  if (Number(n) < 1 || Number(n) > site.pages) {
    response.writeHead(404).end('no such page');
    return;
  }
  send(response, HTML, pageHtml(site, Number(n)));
}

function answerSitemap({ response, site, args: [k, gz] }: Visit): void {
  const first = (Number(k) - 1) * site.pagesPerSitemap + 1;
  sendXml(response, urlset(site, first, Math.min(site.pages, first + site.pagesPerSitemap - 1)), gz);
}

function page(title: string, links: readonly string[], bytes: number): string {
  const anchors = links.map((href) => `<a href="${href}">${href}</a>`).join('\n');
  const html = `<!doctype html><html><head><title>${title}</title></head><body>\n${anchors}\n`;
  const end = '</body></html>\n';
  return html + 'Lorem ipsum.\n'.repeat(Math.max(0, Math.ceil((bytes - html.length - end.length) / 13))) + end;
}

function urlset({ origin }: SiteContent, first: number, last: number): string {
  const entries: string[] = [];
  for (let n = first; n <= last; n++) entries.push(`<url><loc>${origin}/page/${n}</loc></url>`);
  return xml('urlset', entries);
}

function sitemapIndex({ origin, pages, pagesPerSitemap }: SiteContent, gz = ''): string {
  const entries: string[] = [];
  for (let k = 1; (k - 1) * pagesPerSitemap < pages; k++) {
    entries.push(`<sitemap><loc>${origin}/sitemap/${k}.xml${gz}</loc></sitemap>`);
  }
  return xml('sitemapindex', entries);
}

function xml(root: string, entries: readonly string[]): string {
  const namespace = 'http://www.sitemaps.org/schemas/sitemap/0.9';
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${root} xmlns="${namespace}">\n${entries.join('\n')}\n</${root}>\n`;
}

function sendXml(response: Visit['response'], text: string, gz: string | undefined): void {
  if (gz === undefined) send(response, 'application/xml', text);
  else send(response, 'application/gzip', gzipSync(text));
}
