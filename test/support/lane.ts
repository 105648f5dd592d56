import type { FetcherOptions } from '../../shared/fetchers/fetcher-options.ts';
import { GotFetcher } from '../../shared/fetchers/got/fetcher.ts';
import { UndiciFetcher } from '../../shared/fetchers/undici/fetcher.ts';
import type { BodyBudget, Fetcher } from '../../shared/ports/fetcher.ts';

/** The fetchers by their names in `FETCHER`. */
export const LANES: Readonly<Record<string, (options: FetcherOptions) => Fetcher & BodyBudget>> = {
  got: (options) => new GotFetcher(options),
  undici: (options) => new UndiciFetcher(options),
};

/** The fetcher that `FETCHER` names, for tests in which any will do. */
export function openLane(options: FetcherOptions): Fetcher & BodyBudget {
  const { FETCHER = 'got' } = process.env;
  const open = LANES[FETCHER];
  if (open === undefined)
    throw new Error(`expected FETCHER to be ${Object.keys(LANES).join(' or ')}, got "${FETCHER}"`);
  return open(options);
}
