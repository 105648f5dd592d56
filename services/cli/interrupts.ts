/** How long what is under way may take to end, by the signal that asked for it. */
export const GRACE_MS = { SIGINT: 10_000, SIGTERM: 35_000 } as const;
export type StopSignal = keyof typeof GRACE_MS;

/** What was cut short may still put its tasks back, for so long. */
const LAST_WORDS_MS = 3_000;

/** Of a process that was interrupted. */
export const EXIT_INTERRUPTED = 130;

/**
 * Listens for Ctrl-C and SIGTERM: the first asks to stop, the second ends the process at once. What was done so far is
 * kept either way.
 */
export class Interrupts {
  readonly #abort = new AbortController();
  readonly #onSignal = (signal: StopSignal): void => {
    if (this.#first !== undefined) this.#stopAtOnce();
    this.#first = signal;
    this.#abort.abort();
  };
  readonly #lastWords: () => string;
  #first: StopSignal | undefined;

  /** @param lastWords what is said when there is no time for anything else */
  constructor(lastWords: () => string = () => '') {
    this.#lastWords = lastWords;
    process.on('SIGINT', this.#onSignal);
    process.on('SIGTERM', this.#onSignal);
  }

  /** Aborted by the first signal. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** The signal that asked to stop, if one did. */
  get by(): StopSignal | undefined {
    return this.#first;
  }

  /** Of a process that is meant to be ended by SIGTERM, not by Ctrl-C. */
  get exitCode(): number {
    return this.#first === 'SIGINT' ? EXIT_INTERRUPTED : 0;
  }

  /**
   * Runs `stop`, and `hurry` if it takes longer than the signal's grace. What still doesn't end waits for a store that is
   * away, whose leases bring back what was cut short: then the process ends at once.
   */
  async within(stop: () => Promise<void>, hurry: () => void, exitCode = EXIT_INTERRUPTED): Promise<void> {
    let timer = setTimeout(
      () => {
        hurry();
        timer = setTimeout(() => this.#stopAtOnce(exitCode), LAST_WORDS_MS);
      },
      GRACE_MS[this.#first ?? 'SIGTERM'],
    );
    try {
      await stop();
    } finally {
      clearTimeout(timer);
    }
  }

  close(): void {
    process.off('SIGINT', this.#onSignal);
    process.off('SIGTERM', this.#onSignal);
  }

  /** Nothing is lost by it: what was not settled is worked again. */
  #stopAtOnce(exitCode = EXIT_INTERRUPTED): never {
    process.stderr.write(`\nStopped at once.\n${this.#lastWords()}`);
    process.exit(exitCode);
  }
}
