import type { Service } from '../runtime/lifecycle.ts';
import type { PageRecord } from './record.ts';

/**
 * Where records go.
 *
 * When `put` resolves, a crash of this process no longer loses the record. It is an upsert by task where the store supports
 * that. Elsewhere a page may be stored twice after a crash, and reading merges: the highest release per task wins, and within
 * one release the first record. Records put at the same time can be stored together. A record is at most `MAX_RECORD_BYTES`
 * long: longer content is cut, and a record that is too large without content is refused.
 *
 * When a sink fails, `put` rejects. The task then waits again, at the cost of no attempt, and the worker stops consuming. Only
 * a {@link RecordRefusedError} is the record's own fault.
 *
 * Implementations: `sinks/jsonl`, `sinks/postgres`; both pass `test/contract/suites/sink.contract.ts`.
 */
export interface Sink extends Service {
  put(record: PageRecord): Promise<void>;
  /** Resolves when all records put so far also survive a power cut. Absent if `put` guarantees that already. */
  sync?(): Promise<void>;
}

/** Milliseconds between two syncs to this machine's disk. A power cut costs the work of up to twice that time. */
export const SYNC_EVERY_MS = 1_000;

/** Reads the records stored by sinks of one kind. */
export interface RecordSource {
  /** Returns the merged records of a run, one per task, from its highest release. The order is undefined. */
  read(run: string, watch?: ReadWatch): AsyncIterable<PageRecord>;
  /** Returns the record of one task, from its highest release, without reading the whole run. */
  find(run: string, task: string): Promise<PageRecord | undefined>;
  /** Returns whether anything is stored for this run. */
  has(run: string): Promise<boolean>;
  /** Returns the runs that have stored records. */
  runs(): Promise<readonly string[]>;
  /** Returns the run that began last, judged by its first record; `undefined` if there is none. */
  last(): Promise<string | undefined>;
  /** Returns what would keep a sink from storing records there; `undefined` if nothing does. Absent if only trying can tell. */
  storingProblem?(): Promise<string | undefined>;
  /** Releases the resources used for reading. */
  close(): Promise<void>;
}

/** Callbacks and cancellation for reading records. */
export interface ReadWatch {
  /** Called for each stored line that isn't a record and is left out. */
  readonly onNoRecord?: ((found: NoRecord) => void) | undefined;
  /** Called before the first record with the number of done pages, which is too high if some were recorded more than once. */
  readonly onCounted?: ((done: number) => void) | undefined;
  /** Ends the reading with the signal's reason, even before the first record. */
  readonly signal?: AbortSignal | undefined;
}

/** A stored line that isn't a record: written by hand, or left by a broken disk. */
export interface NoRecord {
  readonly file: string;
  /** Line number, from 1. */
  readonly line: number;
  /** The line's first characters, unescaped: callers must make them printable. */
  readonly begins: string;
}

/** The crawler's data can't be written, so no store will ever accept this record. */
export class RecordRefusedError extends Error {
  override readonly name = 'RecordRefusedError';
  readonly code = 'ERR_RECORD_REFUSED';
  /** Why the page fails. */
  readonly reason: 'schema' | 'too_large';

  constructor(
    message: string,
    { reason = 'schema', cause }: { reason?: 'schema' | 'too_large'; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.reason = reason;
  }
}
