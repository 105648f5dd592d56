/**
 * What became of the tasks of a batch, for whoever waits for its answer: beside the sinks, since these may be on other machines.
 * Only runs that were opened here have results kept; they go by themselves when their time is over.
 *
 * Implementation: `stores/redis/batch-results.ts`. A batch of one machine has its records in memory.
 */
export interface BatchResults {
  /** Keeps the results of a run from now on. `false`: they are kept already, and nothing was changed. */
  open(run: string, request: string, keepMs: number): Promise<boolean>;
  /** Keeps a record, as JSON; of several of one task, that of the highest release. Nothing happens for a run that isn't open here. */
  keep(run: string, task: string, release: number, record: string): Promise<void>;
  /** What was asked, and the records, by task; nothing if the run isn't open here. */
  read(run: string): Promise<KeptBatch | undefined>;
}

export interface KeptBatch {
  readonly request: string;
  readonly records: ReadonlyMap<string, string>;
}

/** Runs with results are named so: nobody else's records are looked at twice. */
export const BATCH_RUN = /^batch-/;
/** Of one batch, in characters: what comes later is left out. */
export const MOST_RESULTS_LENGTH = 64 * 1024 * 1024;
/** Of one result, in bytes. */
export const MOST_RESULT_BYTES = 1024 * 1024;
