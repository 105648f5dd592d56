import type { RunView } from '../../../shared/control/run-watcher.ts';
import { painted } from '../../../shared/runtime/colour.ts';
import { GAP, progressParts } from './progress-text.ts';
import type { Teller } from './teller.ts';

const [NO_WRAP, WRAP] = ['\u001b[?7l', '\u001b[?7h'];
const [HIDE_CURSOR, SHOW_CURSOR] = ['\u001b[?25l', '\u001b[?25h'];
/**
 * Removes the line, and whatever is below. The cursor always waits at its beginning: a terminal that was made narrower has broken
 * the line into several, and has kept the cursor at the first of them.
 */
const CLEAR = '\r\u001b[J';

/**
 * One line on a terminal that tells how far a run is, see {@link progressParts}. It fits the terminal, also when that is resized.
 * Between two drawings the terminal is as it was, cursor included: a process that is stopped (Ctrl-Z) or killed can't restore it.
 */
export class ProgressLine implements Teller {
  readonly everyMs = 200;
  readonly #redraw = (): void => this.#draw();
  readonly #clear = (): void => this.clear();
  #shown: { readonly view: RunView; readonly reading: string | undefined } | undefined;

  /** `reading` is what the producer is at, if it is still at it. */
  show(view: RunView, reading?: string): void {
    if (this.#shown === undefined) {
      process.stderr.on('resize', this.#redraw);
      process.on('exit', this.#clear);
    }
    this.#shown = { view, reading };
    this.#draw();
  }

  clear(): void {
    if (this.#shown === undefined) return;
    this.#shown = undefined;
    process.stderr.off('resize', this.#redraw);
    process.off('exit', this.#clear);
    process.stderr.write(CLEAR);
  }

  #draw(): void {
    if (this.#shown === undefined) return;
    const { view, reading } = this.#shown;
    // Some terminals begin a new line as soon as the last column is taken.
    const columns = (process.stderr.columns || 80) - 1;
    const parts = progressParts(view, columns, reading).map(({ text, colour }) =>
      colour === undefined ? text : painted(colour, text, process.stderr),
    );
    process.stderr.write(`${HIDE_CURSOR}${CLEAR}${NO_WRAP}${parts.join(GAP)}${WRAP}\r${SHOW_CURSOR}`);
  }
}
