import type { RunView } from '../../../shared/control/run-watcher.ts';
import { canRedraw } from './output.ts';

/** Shows a run's progress while it is under way. */
export interface Teller {
  /** Interval between two views, in milliseconds. */
  readonly everyMs: number;
  /** @param reading a note on the producer's progress, until all seeds are offered */
  show(view: RunView, reading?: string): void;
  /** Clears what is shown for good: nothing is shown afterwards. */
  clear(): void;
}

/**
 * How progress is shown: in a `line` on a terminal that can redraw it; in `sentences` elsewhere, and with `--json`; or not at all, with
 * `--quiet`.
 */
export type Telling = 'line' | 'sentences' | 'nothing';

/** Chooses how a command shows its progress. */
export function tellingOf({ json = false, quiet = false }: { json?: boolean; quiet?: boolean }): Telling {
  if (quiet) return 'nothing';
  return canRedraw(process.stderr) && !json ? 'line' : 'sentences';
}
