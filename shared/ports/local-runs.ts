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

/** A run of this machine, as anybody may look at it. */
export interface LocalRunView {
  /** Of a run that has ended, without seeds and flags. */
  readonly beginning: Beginning;
  /** How the run ended; left out while it hasn't. */
  readonly ended?: RunProgress;
  /** When something was last done to it; epoch milliseconds. */
  readonly touchedAt: number;
}

/**
 * A run that this process has to itself, until it closes it or ends: no other process releases or reaps its tasks. The
 * operating system sees to that: however a process ends, its hold ends with it.
 */
export interface OwnedRun {
  /** Had all seeds been offered when it was opened? Then there is nothing to be read again. */
  readonly isSealed: boolean;
  /** Aborted with a `StorageError` when something can't be written: from then on the frontier takes and gives nothing. */
  readonly failure: AbortSignal;
  /** Tells the disk: first of the records that the store speaks of, then of the store. It does so every second by itself. */
  sync(): Promise<void>;
  /** The run has ended: forgets what it was begun with, and all that was needed to go on. */
  end(): Promise<void>;
  /** Tells the disk, and lets others open it. Safe to call twice. */
  close(): Promise<void>;
}

/** The runs of a folder. Implementation: `stores/sqlite`, beside the frontier that works them. */
export interface LocalRuns {
  /** Those that have not ended, the one touched last first. */
  unfinished(): Promise<readonly LocalRunView[]>;
  /** Nothing if the folder has no such run. */
  view(run: string): Promise<LocalRunView | undefined>;
}
