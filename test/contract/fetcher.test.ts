import { GotFetcher } from '../../shared/fetchers/got/fetcher.ts';
import { UndiciFetcher } from '../../shared/fetchers/undici/fetcher.ts';
import { describeFetcher } from './suites/fetcher.contract.ts';

describeFetcher('got', (options) => new GotFetcher(options));
describeFetcher('undici', (options) => new UndiciFetcher(options));
