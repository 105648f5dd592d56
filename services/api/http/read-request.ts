import type { LoadedCrawler } from '../../../shared/crawler/loading/load.ts';
import type { RunOptions } from '../../../shared/ports/runs.ts';
import type { Settings } from '../../../shared/settings/table.ts';
import type { Seed } from '../../producer/seeds.ts';

/** A run request, read and checked. */
export interface ReadRequest {
  readonly run: string;
  readonly settings: Settings;
  readonly runOptions: RunOptions;
  readonly seeds: readonly Seed[];
  readonly loaded: LoadedCrawler;
  readonly startOf: (href: string) => string;
  /** The run waits for offers. */
  readonly isForOffers: boolean;
}
