/** Failures of steps at one place of a crawler. */
export interface StepFailure {
  /** File and line, with the step: see {@link StepError.place}. */
  readonly place: string;
  readonly pages: number;
  /** The first of them, in full. */
  readonly error: string;
}

/** Places remembered at most. */
const MOST_PLACES = 50;

/** The failures of steps that this process has seen, by their places. */
export class StepFailures {
  readonly #places = new Map<string, StepFailure>();

  note({ place, message }: { readonly place: string; readonly message: string }): void {
    const known = this.#places.get(place);
    if (known === undefined && this.#places.size >= MOST_PLACES) return;
    this.#places.set(place, { place, pages: (known?.pages ?? 0) + 1, error: known?.error ?? message });
  }

  /** Those with most pages first. */
  get all(): readonly StepFailure[] {
    return [...this.#places.values()].sort((a, b) => b.pages - a.pages);
  }
}
