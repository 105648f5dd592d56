import type { RunOptions, RunProgress } from './runs.ts';

/** What a crawl was begun with: all that is needed to resume it. */
export interface Beginning {
  readonly run: string;
  readonly options: RunOptions;
  /** The crawler's name, or the path of its file. */
  readonly crawler: string;
  /** The seeds, in the form of whoever reads them. */
  readonly seeds: readonly unknown[];
  /** Settings that were given as flags, as text, by their names. */
  readonly flags: Readonly<Record<string, string>>;
  /** Where its records go, for people, without credentials. Left out of a run of an older program. */
  readonly sink?: string;
}

/** A run of this machine, as any process may see it. */
export interface LocalRunView {
  /** Of a run that has ended, without seeds, and without flags once no letter of it is left. */
  readonly beginning: Beginning;
  /** How the run ended; left out while it hasn't. */
  readonly ended?: RunProgress;
  /** Steps and joins of which tasks are left, as those name them; never the first step. */
  readonly left: readonly string[];
  /** When something was last done to it; epoch milliseconds. */
  readonly touchedAt: number;
}

/**
 * A run that this process has to itself, until it closes it or ends: no other process releases or reaps its tasks. The
 * operating system ensures that: however a process ends, its lock ends with it.
 */
export interface OwnedRun {
  /** Had all seeds been offered when it was opened? Then none is read again. */
  readonly isSealed: boolean;
  /** Aborted with a `StorageError` when something can't be written: from then on the frontier accepts and releases nothing. */
  readonly failure: AbortSignal;
  /** Syncs to disk: first the records that the store counts, then the store. This also happens every second. */
  sync(): Promise<void>;
  /** The run has ended: forgets all that was needed to resume it. */
  end(): Promise<void>;
  /** Syncs to disk, and lets others open the run. Safe to call twice. */
  close(): Promise<void>;
}

/** The runs of a folder. Implementation: `stores/sqlite`, beside its frontier. */
export interface LocalRuns {
  /** Those that have not ended, the one active last first. Where it can be told, those that a process works on are last. */
  unfinished(): Promise<readonly LocalRunView[]>;
  /** Nothing if the folder has no such run. */
  view(run: string): Promise<LocalRunView | undefined>;
}
