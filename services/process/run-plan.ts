import type { LoadedCrawler } from '../../shared/crawler/loading/load.ts';
import type { Beginning } from '../../shared/ports/local-runs.ts';
import type { RunOptions } from '../../shared/ports/runs.ts';
import type { Settings } from '../../shared/settings/table.ts';
import type { Seed } from '../producer/seeds.ts';

/** The plan of a crawl, new or resumed. */
export interface RunPlan {
  readonly run: string;
  readonly settings: Settings;
  readonly runOptions: RunOptions;
  readonly loaded: LoadedCrawler;
  /** All seeds that the run was begun with. Whether they must be read again is known when it is open. */
  readonly seeds: readonly Seed[];
  /** The producer that keeps the run open, if somebody else offers its URLs; left out if its seeds are all there is. */
  readonly offeredBy?: string;
  /** How it is kept on disk; left out if it is only in memory. */
  readonly kept?: { readonly begin: Beginning } | { readonly resume: string };
  /** Whether standard input was named. */
  readonly hasInput: boolean;
}
