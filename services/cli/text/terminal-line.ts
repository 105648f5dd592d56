import { painted } from '../../../shared/runtime/colour.ts';
import { terminal } from '../../../shared/runtime/standard-error.ts';
import { GAP, type Part } from './progress-text.ts';

const [NO_WRAP, WRAP] = ['\u001b[?7l', '\u001b[?7h'];
const [HIDE_CURSOR, SHOW_CURSOR] = ['\u001b[?25l', '\u001b[?25h'];
/**
 * Removes the line and everything below it. The cursor always rests at the start of the line: when a terminal is made narrower, it wraps
 * the line into several and keeps the cursor on the first.
 */
const CLEAR = '\r\u001b[J';

/** Returns the content of a line, to fit this many columns. */
type PartsWithin = (columns: number) => readonly Part[];

/**
 * A line at the bottom of a terminal, on standard error, that is redrawn repeatedly and fits the terminal even after a resize. Between
 * two redraws the terminal is in its normal state, cursor included, since a process that is stopped (Ctrl-Z) or killed can't restore it.
 */
export class TerminalLine {
  readonly #redraw = (): void => this.#draw();
  readonly #clear = (): void => this.clear();
  #partsWithin: PartsWithin | undefined;

  show(partsWithin: PartsWithin): void {
    if (this.#partsWithin === undefined) {
      process.stderr.on('resize', this.#redraw);
      process.on('exit', this.#clear);
    }
    this.#partsWithin = partsWithin;
    this.#draw();
  }

  clear(): void {
    if (this.#partsWithin === undefined) return;
    this.#partsWithin = undefined;
    process.stderr.off('resize', this.#redraw);
    process.off('exit', this.#clear);
    terminal.write(CLEAR);
  }

  #draw(): void {
    if (this.#partsWithin === undefined) return;
    // Some terminals start a new line as soon as the last column is filled.
    const columns = (process.stderr.columns || 80) - 1;
    const parts = this.#partsWithin(columns).map(({ text, colour }) =>
      colour === undefined ? text : painted(colour, text, process.stderr),
    );
    terminal.draw(`${HIDE_CURSOR}${CLEAR}${NO_WRAP}${parts.join(GAP)}${WRAP}\r${SHOW_CURSOR}`);
  }
}
