import type { LoadedCrawler } from '../../shared/crawler/loading/load.ts';
import type { Beginning } from '../../shared/ports/local-runs.ts';
import type { RunOptions } from '../../shared/ports/runs.ts';
import type { Settings } from '../../shared/settings/table.ts';
import type { Seed } from '../producer/seeds.ts';

/** What a crawl will do, new or resumed. */
export interface RunPlan {
  readonly run: string;
  readonly settings: Settings;
  readonly runOptions: RunOptions;
  readonly loaded: LoadedCrawler;
  /** All that the run was begun with. Whether they are to be read again is known when it is open. */
  readonly seeds: readonly Seed[];
  /** How it is kept on disk; left out if it is in memory only. */
  readonly kept?: { readonly begin: Beginning } | { readonly resume: string };
  /** Standard input was named. */
  readonly hasInput: boolean;
}
