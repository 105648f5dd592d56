/**
 * The records of a batch, kept for the client that waits for its answer. Kept in addition to the sinks, since those may be on
 * other machines. Only runs opened here have results, which expire by themselves.
 *
 * Implementation: `stores/redis/batch-results.ts`. A batch on one machine keeps its records in memory.
 */
export interface BatchResults {
  /** Keeps the results of a run for `keepMs` from now on. Returns `false` if they are kept already: only their time restarts. */
  open(run: string, request: string, keepMs: number): Promise<boolean>;
  /** Keeps a task's record, as JSON. The highest release of a task wins. Does nothing for a run that isn't open here. */
  keep(run: string, task: string, release: number, record: string): Promise<void>;
  /** Returns the request, and the records by task; `undefined` if the run isn't open here. */
  read(run: string): Promise<KeptBatch | undefined>;
}

export interface KeptBatch {
  readonly request: string;
  readonly records: ReadonlyMap<string, string>;
}

/** Pattern of the ids of runs with results. The records of all other runs skip this store. */
export const BATCH_RUN = /^batch-/;
/** Maximum total length of a batch's records: bytes in Redis, characters in memory. Records that no longer fit are left out. */
export const MOST_RESULTS_LENGTH = 64 * 1024 * 1024;
/** Maximum bytes of one result. */
export const MOST_RESULT_BYTES = 1024 * 1024;
