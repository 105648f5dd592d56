import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';

/** Number of ordinary pages in the sitemap. Others there are gone, moved, flaky, not HTML, or forbidden by robots.txt. */
const PAGES = 40;

/** A small website on a free port of this machine: a sitemap, pages with links, and a few of the web's usual troubles. */
export class DemoSite {
  readonly #server: Server = createServer((request, response) => this.#answer(request, response));
  #flakyAnswers = 0;
  #origin = '';

  /** The site's URL, once it has started. */
  get url(): string {
    return `${this.#origin}/`;
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject).listen(0, '127.0.0.1', resolve);
    });
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('expected a TCP address');
    this.#origin = `http://127.0.0.1:${address.port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #answer({ url: path = '/' }: IncomingMessage, response: ServerResponse): void {
    const send = (status: number, type: string, body: string, headers: Record<string, string> = {}): void => {
      response.writeHead(status, { 'content-type': type, ...headers }).end(body);
    };
    const page = /^\/fish\/(\d+)$/.exec(path)?.[1];
    if (path === '/robots.txt')
      send(200, 'text/plain', `User-agent: *\nDisallow: /private/\nSitemap: ${this.#origin}/sitemap.xml\n`);
    else if (path === '/sitemap.xml') send(200, 'application/xml', this.#sitemap());
    else if (page !== undefined && Number(page) < PAGES) send(200, 'text/html; charset=utf-8', fishPage(Number(page)));
    else if (path === '/moved') send(301, 'text/plain', '', { location: '/fish/7' });
    else if (path === '/picture.png') send(200, 'image/png', 'not really');
    else if (path === '/flaky' && ++this.#flakyAnswers > 1) send(200, 'text/html', '<title>Better now</title>');
    else if (path === '/flaky') send(503, 'text/plain', 'not now');
    else send(404, 'text/html', '<title>Not here</title>');
  }

  #sitemap(): string {
    const paths = [
      ...Array.from({ length: PAGES }, (_, n) => `/fish/${n}`),
      '/moved',
      '/gone',
      '/flaky',
      '/picture.png',
      '/private/diary',
      '/fish/1',
    ];
    const urls = paths.map((path) => `<url><loc>${this.#origin}${path}</loc></url>`).join('\n');
    return `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${urls}\n</urlset>\n`;
  }
}

function fishPage(n: number): string {
  const links = [1, 2, 3]
    .map((step) => `<a href="/fish/${(n + step) % PAGES}">fish ${(n + step) % PAGES}</a>`)
    .join(' ');
  return `<!doctype html><html lang="en"><title>Fish ${n}</title><h1>Fish number ${n}</h1><p>It swims with ${links}.</p></html>`;
}
