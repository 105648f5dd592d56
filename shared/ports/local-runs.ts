import type { RunOptions, RunProgress } from './runs.ts';

/** The inputs a crawl was started with: all that is needed to resume it. */
export interface Beginning {
  readonly run: string;
  readonly options: RunOptions;
  /** The crawler's name, or the path of its file. */
  readonly crawler: string;
  /** The seeds, in whatever form the producer reads them. */
  readonly seeds: readonly unknown[];
  /** Settings given as flags, as text, by name. */
  readonly flags: Readonly<Record<string, string>>;
  /** Where its records go, for people, without credentials. Absent in runs of older programs. */
  readonly sink?: string;
}

/** A run on this machine, as visible to any process. */
export interface LocalRunView {
  /** Once the run has ended, without seeds, and as soon as none of its letters is left, also without flags. */
  readonly beginning: Beginning;
  /** How the run ended. Absent while it hasn't. */
  readonly ended?: RunProgress;
  /** Steps and joins with tasks left, as the tasks name them; never the first step. */
  readonly left: readonly string[];
  /** When the run last changed, in epoch milliseconds. */
  readonly touchedAt: number;
}

/**
 * A run that belongs to this process until it closes the run or ends: no other process releases or reaps its tasks. The
 * operating system guarantees that: however a process ends, its lock ends with it.
 */
export interface OwnedRun {
  /** All seeds had been offered when the run was opened, so none is read again. */
  readonly isSealed: boolean;
  /** Aborted with a `StorageError` when something can't be written: from then on the frontier accepts and releases nothing. */
  readonly failure: AbortSignal;
  /** Syncs to disk, first the records that the store counts, then the store. Also happens by itself every second. */
  sync(): Promise<void>;
  /** Notes that the run has ended, and forgets everything that was needed to resume it. */
  end(): Promise<void>;
  /** Syncs to disk, and lets others open the run. Safe to call twice. */
  close(): Promise<void>;
}

/** The runs of a folder. Implementation: `stores/sqlite`, beside its frontier. */
export interface LocalRuns {
  /** Returns the runs that have not ended, the most recently active first. Runs that a process is known to work on come last. */
  unfinished(): Promise<readonly LocalRunView[]>;
  /** Returns a run; `undefined` if the folder has no such run. */
  view(run: string): Promise<LocalRunView | undefined>;
}
