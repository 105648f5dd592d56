import { GotFetcher } from '../../shared/fetchers/got/fetcher.ts';
import { describeFetcher } from './fetcher.contract.ts';

describeFetcher('got', (options) => new GotFetcher(options));
