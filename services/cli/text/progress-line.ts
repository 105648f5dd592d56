import type { RunView } from '../../../shared/control/run-watcher.ts';
import { progressParts } from './progress-text.ts';
import type { Teller } from './teller.ts';
import { TerminalLine } from './terminal-line.ts';

/** One line on a terminal that tells how far a run is, see {@link progressParts}. */
export class ProgressLine implements Teller {
  readonly everyMs = 200;
  readonly #line = new TerminalLine();

  /** `reading` is what the producer is at, if it is still at it. */
  show(view: RunView, reading?: string): void {
    this.#line.show((columns) => progressParts(view, columns, reading));
  }

  clear(): void {
    this.#line.clear();
  }
}
