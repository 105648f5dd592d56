import { createServer } from 'node:http';

// The site of the Compose test in its own container: `http://site:8080/`, with a sitemap of PAGES pages, another one
// of SLOW_PAGES at /slow.xml, and its request counts at /requests.
const ORIGIN = 'http://site:8080';
const PAGES = Number(process.env.PAGES);
const SLOW_PAGES = Number(process.env.SLOW_PAGES);
/** Duration of a slow page: long enough that a killed worker has some in hand. */
const SLOW_MS = 200;

const requests = new Map<string, number>();

function sitemap(kind: string, pages: number): string {
  const urls = Array.from({ length: pages }, (_, n) => `<url><loc>${ORIGIN}/${kind}/${n}</loc></url>`);
  return `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${urls.join('')}</urlset>`;
}

createServer(({ url = '/' }, response) => {
  const send = (status: number, type: string, body: string): void =>
    void response.writeHead(status, { 'content-type': type }).end(body);
  const sendPage = (): void => send(200, 'text/html', `<!doctype html><title>${url}</title><p>A page.`);
  if (url === '/requests') return send(200, 'application/json', JSON.stringify(Object.fromEntries(requests)));
  requests.set(url, (requests.get(url) ?? 0) + 1);
  if (url === '/robots.txt') send(200, 'text/plain', `User-agent: *\nAllow: /\nSitemap: ${ORIGIN}/sitemap.xml\n`);
  else if (url === '/sitemap.xml') send(200, 'application/xml', sitemap('page', PAGES));
  else if (url === '/slow.xml') send(200, 'application/xml', sitemap('slow', SLOW_PAGES));
  else if (url.startsWith('/slow/')) setTimeout(sendPage, SLOW_MS);
  else if (url.startsWith('/page/') || url.startsWith('/listed/')) sendPage();
  else send(404, 'text/plain', 'Nothing here.');
}).listen(8080);

process.once('SIGTERM', () => process.exit(0));
