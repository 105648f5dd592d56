import type { TestSite } from '../site.ts';

/** Serves an HTML page at a path, built for each request. */
export function serve(site: TestSite, path: string, page: (url: URL) => string): void {
  site.on(path, ({ url }, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8').end(page(new URL(url ?? '', site.origin)));
  });
}

/** The page number in a URL's query, from 1. */
export function pageOf({ searchParams }: URL): number {
  return Number(searchParams.get('page') ?? 1);
}

export function htmlOf(title: string, body: string): string {
  return `<!doctype html><html lang="en"><head><title>${title}</title></head><body>${body}</body></html>`;
}
