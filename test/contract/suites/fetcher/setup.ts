import { onTestFinished } from 'vitest';
import type { FetcherOptions } from '../../../../shared/fetchers/fetcher-options.ts';
import type { FetchedPage, Fetcher, PageRequest } from '../../../../shared/ports/fetcher.ts';
import { allowing } from '../../../support/allowing.ts';
import { TestSite, type TestSiteOptions } from '../../../support/site.ts';

/** Opens a fetcher of the kind under test. */
export type OpenFetcher = (options: FetcherOptions) => Fetcher;

/** Starts a site and opens a fetcher that may fetch from it. */
export type Setup = (options?: SetupOptions) => Promise<{
  readonly site: TestSite;
  readonly fetcher: Fetcher;
  /** Fetches a path of the site. */
  readonly fetch: (path: string, extra?: Partial<PageRequest>) => Promise<FetchedPage>;
}>;

interface SetupOptions extends Partial<FetcherOptions> {
  readonly site?: TestSiteOptions;
}

/** Makes the setup for one kind of fetcher. A connection that the fetcher leaks fails the test. */
export function setupFor(open: OpenFetcher): Setup {
  return async ({ site: siteOptions, ...options } = {}) => {
    const site = new TestSite(siteOptions);
    await site.start();
    const fetcher = open({
      timeoutMs: 5_000,
      userAgent: 'TrawlBot/1',
      allowedPrivate: allowing('127.0.0.0/8'),
      ...options,
    });
    onTestFinished(async () => {
      await fetcher.stop();
      await site.disconnection();
      await site.stop();
    });
    return {
      site,
      fetcher,
      fetch: (path, extra) => fetcher.fetch({ url: site.url(path), maxBodyBytes: 1_000_000, ...extra }),
    };
  };
}

/** Answers a path with a body and the name of its coding. */
export function serve(site: TestSite, path: string, body: Buffer, coding: string): void {
  site.on(path, (_, response) => {
    response.writeHead(200, { 'content-encoding': coding }).end(body);
  });
}

/** Reads a body in pieces to its end. */
export async function allOf({ body }: { readonly body: AsyncIterable<Uint8Array> }): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(body));
}
