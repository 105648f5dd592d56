import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TestHandler, TestSite } from './site.ts';

interface ChangingPage {
  version: number;
  /** Version of its content: a new version of a page can have the old content. */
  edition: number;
  changedAt: Date;
  lastmod: string | undefined;
}

/** A time long before any test. */
const BEGINNING = new Date('2026-01-01T00:00:00Z');

/**
 * Changing pages of a test site at `/page/<n>`, with a sitemap that lists them. Each answer has an `ETag` and a
 * `Last-Modified`; a request that names the version of the page in either gets a 304.
 */
export class ChangingPages {
  /** The status of every answer for a page, in order. */
  readonly answers: { readonly path: string; readonly status: number; readonly conditions: string }[] = [];
  readonly #pages = new Map<number, ChangingPage>();
  readonly #site: TestSite;
  readonly #hasEtags: boolean;

  constructor(site: TestSite, pages: number, { hasEtags = true }: { readonly hasEtags?: boolean } = {}) {
    this.#site = site;
    this.#hasEtags = hasEtags;
    for (let n = 1; n <= pages; n++) {
      this.#pages.set(n, { version: 1, edition: 1, changedAt: BEGINNING, lastmod: undefined });
      site.on(`/page/${n}`, this.handler(n));
    }
    site.on('/sitemap.xml', (_, response) =>
      response.setHeader('content-type', 'application/xml').end(this.#sitemap()),
    );
  }

  /** Makes a new version of page `n`, with the old content if `sameContent`. A `lastmod` goes into the sitemap. */
  change(n: number, { lastmod, sameContent = false }: { lastmod?: string; sameContent?: boolean } = {}): void {
    const page = this.#page(n);
    page.version++;
    if (!sameContent) page.edition++;
    page.changedAt = new Date();
    if (lastmod !== undefined) page.lastmod = lastmod;
  }

  /** Sets the `lastmod` of page `n` in the sitemap without changing the page. */
  say(n: number, lastmod: string): void {
    this.#page(n).lastmod = lastmod;
  }

  /** The handler that answers for page `n`. */
  handler(n: number): TestHandler {
    return (request, response) => this.#answer(n, request, response);
  }

  /** Size of page `n` in bytes. */
  bytes(n: number): number {
    return this.#html(n).length;
  }

  /** Returns status and path of each answer since the last call, sorted. */
  takeAnswers(): string[] {
    return this.answers
      .splice(0)
      .map(({ path, status }) => `${status} ${path}`)
      .toSorted();
  }

  #page(n: number): ChangingPage {
    const page = this.#pages.get(n);
    if (page === undefined) throw new Error(`there is no page ${n}`);
    return page;
  }

  #html(n: number): string {
    return `<title>Page ${n}</title>${'.'.repeat(100 * n)} edition ${this.#page(n).edition} <a href="/page/${n + 1}">next</a>`;
  }

  #answer(n: number, request: IncomingMessage, response: ServerResponse): void {
    const { version, changedAt } = this.#page(n);
    const etag = `"${n}-${version}"`;
    const { 'if-none-match': wanted, 'if-modified-since': since } = request.headers;
    // RFC 9110, section 13.2.2: a time counts only if no ETag is given.
    const isKnown =
      wanted === undefined
        ? since !== undefined && Math.floor(changedAt.getTime() / 1_000) <= Date.parse(since) / 1_000
        : this.#hasEtags && wanted === etag;
    const status = isKnown ? 304 : 200;
    const conditions = [wanted, since].filter((each) => each !== undefined).join(' ');
    this.answers.push({ path: `/page/${n}`, status, conditions });
    const head = { 'last-modified': changedAt.toUTCString(), ...(this.#hasEtags ? { etag } : {}) };
    response.writeHead(status, { ...head, ...(isKnown ? {} : { 'content-type': 'text/html' }) });
    response.end(isKnown ? undefined : this.#html(n));
  }

  #sitemap(): string {
    const entries = [...this.#pages].map(([n, { lastmod }]) => {
      const loc = `<loc>${this.#site.url(`/page/${n}`)}</loc>`;
      return `<url>${loc}${lastmod === undefined ? '' : `<lastmod>${lastmod}</lastmod>`}</url>`;
    });
    return `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${entries.join('')}</urlset>`;
  }
}
