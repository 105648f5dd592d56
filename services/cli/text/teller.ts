import type { RunView } from '../../../shared/control/run-watcher.ts';
import { canRedraw } from './output.ts';

/** Tells how far a run is, while it is under way. */
export interface Teller {
  /** Between two views that it is shown. */
  readonly everyMs: number;
  /** `reading` is what the producer is at, if it is still at it. */
  show(view: RunView, reading?: string): void;
  /** Makes room for other lines; nothing is shown after it. */
  clear(): void;
}

/** A line on a terminal that isn't dumb; else, and where standard output is for a script, sentences; or nothing. */
export type Telling = 'line' | 'sentences' | 'nothing';

/** How a command tells how far it is. */
export function tellingOf({ json = false, quiet = false }: { json?: boolean; quiet?: boolean }): Telling {
  if (quiet) return 'nothing';
  return canRedraw(process.stderr) && !json ? 'line' : 'sentences';
}
