import type { RunOptions, RunProgress } from './runs.ts';

/** What a crawl was begun with: all that is needed to go on with it. */
export interface Beginning {
  readonly run: string;
  readonly options: RunOptions;
  /** What was to be read, in the words of whoever reads it. */
  readonly seeds: readonly unknown[];
  /** Settings that were given as flags, as text, by their names. */
  readonly flags: Readonly<Record<string, string>>;
}

/** A journal as it lies in its folder, looked at without opening it. */
export interface JournalView {
  readonly path: string;
  readonly beginning: Beginning;
  /** How the run ended; left out while it hasn't. */
  readonly ended?: RunProgress;
  /** When something was last written to it; epoch milliseconds. */
  readonly touchedAt: number;
}

/**
 * The journal of one run in one process: its frontier writes down what it takes and what came of it, so that another
 * process can go on. Implementation: `stores/journal`, beside the frontier that writes it.
 *
 * One process at a time has it open, and the operating system sees to that: however a process ends, its hold ends with it.
 */
export interface RunJournal {
  readonly path: string;
  /** Had all seeds been offered when it was opened? Then there is nothing to be read again. */
  readonly isSealed: boolean;
  /** Aborted with a `StorageError` when a line can't be written: from then on the frontier takes and gives nothing. */
  readonly failure: AbortSignal;
  /** Tells the disk: first of the records that it speaks of, then of itself. It does so every second by itself. */
  sync(): Promise<void>;
  /** The run has ended: forgets all but how it began and how it ended. */
  end(progress: RunProgress): Promise<void>;
  /** Tells the disk, and lets others open it. Safe to call twice. */
  close(): Promise<void>;
}

/** The journals of a folder. */
export interface JournalFolder {
  /** Those of runs that have not ended, the one touched last first. */
  unfinished(): Promise<readonly JournalView[]>;
  /** Nothing if the run has none. */
  view(run: string): Promise<JournalView | undefined>;
}
