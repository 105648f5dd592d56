/** Selects consecutive rows of a table by their position. */
export class RowWindow {
  readonly #begin: number;
  readonly #end: number;
  #seen = 0;

  /** @param offset number of rows to leave out at the beginning; default: 0. @param limit maximum number of rows; default: all */
  constructor({ offset = 0, limit = Number.POSITIVE_INFINITY }: RowWindowOptions) {
    this.#begin = offset;
    this.#end = offset + limit;
  }

  /** Returns whether the next row is selected. Call it once for each row, in order. */
  takesNext(): boolean {
    const at = this.#seen++;
    return at >= this.#begin && at < this.#end;
  }

  /** Number of rows so far, selected or not. */
  get seen(): number {
    return this.#seen;
  }

  /** Is no further row selected? */
  get isOver(): boolean {
    return this.#seen >= this.#end;
  }
}

/** Options of a {@link RowWindow}. */
export interface RowWindowOptions {
  readonly offset?: number | undefined;
  readonly limit?: number | undefined;
}
