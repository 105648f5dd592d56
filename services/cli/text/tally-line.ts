import { fstatSync } from 'node:fs';
import { count } from '../../../shared/control/format.ts';
import type { Context } from '../command.ts';
import { TerminalLine } from './terminal-line.ts';
import { widthOf } from './width.ts';

/** Work that takes no longer is told by its end alone. */
const QUIET_MS = 1_000;
/** Between two drawings. */
const EVERY_MS = 200;
const STANDARD_OUTPUT = 1;

/** What is counted. */
interface Tallied {
  /** `dead letters read`, say. */
  readonly what: string;
  /** The command prints while it counts. */
  readonly isPrinting?: boolean;
}

/** Runs an action that counts what it does, and clears the line before anything else is said. */
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
 * Tells on a terminal how far a command is that takes longer than a second: `1 200 000 of 1 879 312 waiting URLs dropped`. It says nothing in
 * a pipe, nor where a script or a pager reads what is printed.
 */
export class TallyLine {
  readonly #line = new TerminalLine();
  readonly #tallied: Tallied;
  readonly #isShown: boolean;
  #counted = 0;
  #of: number | undefined;
  #nextMs = performance.now() + QUIET_MS;

  /** The line is gone once the context's signal is aborted. */
  constructor({ telling, signal }: Pick<Context, 'telling' | 'signal'>, tallied: Tallied) {
    this.#tallied = tallied;
    this.#isShown = telling === 'line' && canStandBeside(tallied.isPrinting === true);
    signal?.addEventListener('abort', () => this.clear());
  }

  /** @param of how many there are of all, as far as that is known */
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

  /** Makes room for other lines: nothing is shown after it. */
  clear(): void {
    this.#nextMs = Number.POSITIVE_INFINITY;
    this.#line.clear();
  }

  #text(): string {
    // What came meanwhile is counted, too.
    const of = this.#of === undefined ? '' : ` of ${count(Math.max(this.#of, this.#counted))}`;
    return `${count(this.#counted)}${of} ${this.#tallied.what}`;
  }
}

/** Does nobody draw on the same terminal, as a pager does, nor what is printed meanwhile stand in the line? */
function canStandBeside(isPrinting: boolean): boolean {
  if (process.stdout.isTTY) return !isPrinting;
  const output = fstatSync(STANDARD_OUTPUT);
  return !output.isFIFO() && !output.isSocket();
}
