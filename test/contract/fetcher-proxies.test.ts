import { GotFetcher } from '../../shared/fetchers/got/fetcher.ts';
import { describeFetcherThroughProxies } from './fetcher.contract.ts';

describeFetcherThroughProxies('got', (options) => new GotFetcher(options));
