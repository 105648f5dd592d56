import type { RunOptions } from '../ports/runs.ts';
import { duration } from './format.ts';

type Recrawling = Pick<RunOptions, 'incremental' | 'recrawlAfterMs'>;

/** How an incremental run decides; nothing for any other. */
export function incrementalLine({ incremental, recrawlAfterMs }: Recrawling): string | undefined {
  if (!incremental) return undefined;
  const age = recrawlAfterMs > 0 ? `, or ${duration(recrawlAfterMs)} after their last fetch` : '';
  return `Incremental: known pages are due when their sitemap says that they changed${age}`;
}

/** The same for scripts. Runs opened by an older program lack it. */
export function incrementalJson({ incremental = false, recrawlAfterMs = 0 }: Partial<Recrawling>): object {
  return { incremental, recrawlAfterSeconds: recrawlAfterMs > 0 ? recrawlAfterMs / 1_000 : null };
}
