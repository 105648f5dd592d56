import { GotFetcher } from '../../shared/fetchers/got/fetcher.ts';
import { UndiciFetcher } from '../../shared/fetchers/undici/fetcher.ts';
import { describeFetcherThroughProxies } from './suites/fetcher.contract.ts';

describeFetcherThroughProxies('got', (options) => new GotFetcher(options));
describeFetcherThroughProxies('undici', (options) => new UndiciFetcher(options));
