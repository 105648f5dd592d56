import { fstatSync } from 'node:fs';
import { count } from '../../../shared/control/format.ts';
import type { Context } from '../command.ts';
import { TerminalLine } from './terminal-line.ts';
import { widthOf } from './width.ts';

/** Time before the line appears. Shorter work shows only its result. */
const QUIET_MS = 1_000;
/** Interval between two redraws. */
const EVERY_MS = 200;
const STANDARD_OUTPUT = 1;

/** A count to be shown. */
interface Tallied {
  /** The label, such as `dead letters read`. */
  readonly what: string;
  /** The command prints lines while it counts. */
  readonly isPrinting?: boolean;
}

/** Runs an action with a tally, and clears the tally's line before anything else is printed. */
export async function withTally<T>(
  context: Pick<Context, 'telling' | 'signal'>,
  tallied: Tallied,
  action: (tally: TallyLine) => Promise<T>,
): Promise<T> {
  const tally = new TallyLine(context, tallied);
  try {
    return await action(tally);
  } finally {
    tally.clear();
  }
}

/**
 * Shows the progress of a command that takes longer than a second: `1 200 000 of 1 879 312 waiting URLs dropped`. Shown only on a
 * terminal, and not while a script or a pager reads the output.
 */
export class TallyLine {
  readonly #line = new TerminalLine();
  readonly #tallied: Tallied;
  readonly #isShown: boolean;
  #counted = 0;
  #of: number | undefined;
  #nextMs = performance.now() + QUIET_MS;

  /** The line is cleared when the context's signal is aborted. */
  constructor({ telling, signal }: Pick<Context, 'telling' | 'signal'>, tallied: Tallied) {
    this.#tallied = tallied;
    this.#isShown = telling === 'line' && canStandBeside(tallied.isPrinting === true);
    signal?.addEventListener('abort', () => this.clear());
  }

  /** @param of the total, if known */
  add(more: number, of?: number): void {
    this.#counted += more;
    this.#of = of;
    const now = performance.now();
    if (!this.#isShown || now < this.#nextMs) return;
    this.#nextMs = now + EVERY_MS;
    this.#line.show((columns) => {
      const text = this.#text();
      return widthOf(text) > columns ? [] : [{ text }];
    });
  }

  /** Clears the line for good: nothing is shown afterwards. */
  clear(): void {
    this.#nextMs = Number.POSITIVE_INFINITY;
    this.#line.clear();
  }

  #text(): string {
    // More may have come meanwhile, so the count can exceed the total.
    const of = this.#of === undefined ? '' : ` of ${count(Math.max(this.#of, this.#counted))}`;
    return `${count(this.#counted)}${of} ${this.#tallied.what}`;
  }
}

/** Is the terminal free for the line: no printed output that would mix with it, and no pager drawing there too? */
function canStandBeside(isPrinting: boolean): boolean {
  if (process.stdout.isTTY) return !isPrinting;
  const output = fstatSync(STANDARD_OUTPUT);
  return !output.isFIFO() && !output.isSocket();
}
