import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { onTestFinished } from 'vitest';
import type { FetcherOptions } from '../../../../shared/fetchers/fetcher-options.ts';
import { Rotation } from '../../../../shared/fetchers/proxies/rotation.ts';
import type { FetchedPage, Fetcher } from '../../../../shared/ports/fetcher.ts';
import { parseProxies } from '../../../../shared/task/host/proxy-list.ts';
import { allowing } from '../../../support/allowing.ts';
import { HttpProxy } from '../../../support/proxies/http-proxy.ts';
import { SocksProxy } from '../../../support/proxies/socks-proxy.ts';
import { selfSigned } from '../../../support/site/certificate.ts';
import { TestSite } from '../../../support/site.ts';
import { SteppedClock } from '../../../support/stores/stepped-clock.ts';
import type { OpenFetcher } from './setup.ts';

const WITHOUT_OURS = getCACertificates('default');

/** Makes this process trust the certificate of the test site and the test proxies, or not. */
export function trustOurs(isTrusted: boolean): void {
  setDefaultCACertificates(isTrusted ? [...WITHOUT_OURS, selfSigned.cert] : WITHOUT_OURS);
}

/** Returns a port that nobody listens on. */
export async function deadPort(): Promise<number> {
  const gone = new HttpProxy();
  await gone.start();
  const { port } = gone;
  await gone.stop();
  return port;
}

export async function startHttpProxy(options: ConstructorParameters<typeof HttpProxy>[0] = {}): Promise<HttpProxy> {
  return await started(new HttpProxy(options));
}

export async function startSocksProxy(login?: string): Promise<SocksProxy> {
  return await started(new SocksProxy(login));
}

export async function startSite(options: ConstructorParameters<typeof TestSite>[0] = {}): Promise<TestSite> {
  return await started(new TestSite(options));
}

/** Opens a fetcher that goes through these proxies. */
export type ThroughProxies = (
  proxies: readonly (string | HttpProxy | SocksProxy)[],
  options?: Partial<FetcherOptions>,
) => {
  readonly fetcher: Fetcher;
  readonly clock: SteppedClock;
  /** The proxies that started to rest, each with duration and reason. */
  readonly rests: readonly string[];
  readonly fetch: (url: string) => Promise<FetchedPage>;
};

/** Makes the function that opens fetchers of one kind through proxies. A connection leaked to a proxy fails the test. */
export function throughProxies(open: OpenFetcher): ThroughProxies {
  return (proxies, options) => {
    const parsed = parseProxies(proxies.map((proxy) => (typeof proxy === 'string' ? proxy : proxy.url)));
    if ('problems' in parsed) throw new Error(parsed.problems.join('\n'));
    const clock = new SteppedClock();
    const rests: string[] = [];
    const onRest = (_: unknown, trouble: string, restMs: number): void =>
      void rests.push(`${restMs / 1_000} s: ${trouble}`);
    const fetcher = open({
      timeoutMs: 5_000,
      userAgent: 'TrawlBot/1',
      allowedPrivate: allowing('127.0.0.0/8'),
      ...options,
      proxies: new Rotation({ proxies: parsed, clock, onRest }),
    });
    onTestFinished(async () => {
      await fetcher.stop();
      for (const proxy of proxies) if (typeof proxy !== 'string') await proxy.disconnection();
    });
    return { fetcher, clock, rests, fetch: (url) => fetcher.fetch({ url, maxBodyBytes: 1_000_000 }) };
  };
}

async function started<T extends { start(): Promise<void>; stop(): Promise<void> }>(server: T): Promise<T> {
  await server.start();
  onTestFinished(() => server.stop());
  return server;
}
