import { onTestFinished } from 'vitest';
import { GotFetcher, type GotFetcherOptions } from '../../../../shared/fetchers/got/fetcher.ts';
import type { FetchRequest } from '../../../../shared/ports/fetcher.ts';
import { type AllowedPrivate, parsePrivateHosts } from '../../../../shared/task/host/private-address.ts';
import { TestSite, type TestSiteOptions } from '../../../support/site.ts';

/** The entries of a `PRIVATE_HOSTS` that has no mistake. */
export function allowing(...entries: string[]): AllowedPrivate {
  const parsed = parsePrivateHosts(entries);
  if ('problems' in parsed) throw new Error(parsed.problems.join('\n'));
  return parsed;
}

/** A site, and a fetcher that may fetch from it. A connection that the fetcher leaks fails the test. */
export async function setup(options: Partial<GotFetcherOptions> & { site?: TestSiteOptions } = {}): Promise<{
  site: TestSite;
  fetcher: GotFetcher;
  fetch: (path: string, extra?: Partial<FetchRequest>) => ReturnType<GotFetcher['fetch']>;
}> {
  const { site: siteOptions, ...fetcherOptions } = options;
  const site = new TestSite(siteOptions);
  await site.start();
  const fetcher = new GotFetcher({
    timeoutMs: 5_000,
    userAgent: 'TrawlBot/1',
    allowedPrivate: allowing('127.0.0.0/8'),
    ...fetcherOptions,
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
}
