import type { RunOptions } from '../ports/runs.ts';
import { duration } from './format.ts';

type Recrawling = Pick<RunOptions, 'incremental' | 'recrawlAfterMs'>;

/** Says when pages are due in an incremental run; undefined for any other run. */
export function incrementalLine({ incremental, recrawlAfterMs }: Recrawling): string | undefined {
  if (!incremental) return undefined;
  const age = recrawlAfterMs > 0 ? `, or ${duration(recrawlAfterMs)} after their last fetch` : '';
  return `Incremental: known pages are due when their sitemap says they have changed${age}`;
}

/** The same as JSON. Runs opened by an older program lack these options. */
export function incrementalJson({ incremental = false, recrawlAfterMs = 0 }: Partial<Recrawling>): object {
  return { incremental, recrawlAfterSeconds: recrawlAfterMs > 0 ? recrawlAfterMs / 1_000 : null };
}
