import type { RunView } from '../../../shared/control/run-watcher.ts';
import { progressParts } from './progress-text.ts';
import type { Teller } from './teller.ts';
import { TerminalLine } from './terminal-line.ts';

/** Shows a run's progress in one line of a terminal, see {@link progressParts}. */
export class ProgressLine implements Teller {
  readonly everyMs = 200;
  readonly #line = new TerminalLine();

  /** @param reading a note on the producer's progress, until all seeds are offered */
  show(view: RunView, reading?: string): void {
    this.#line.show((columns) => progressParts(view, columns, reading));
  }

  clear(): void {
    this.#line.clear();
  }
}
