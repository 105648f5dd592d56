import type { Service } from '../runtime/lifecycle.ts';
import type { PageRecord } from './record.ts';

/**
 * Where records go.
 *
 * When `put` resolves, a crash of this process no longer loses the record. It is an upsert by task where the store can;
 * elsewhere a page may be stored twice after a crash, and reading merges: the highest release per task, and of one release
 * the first. Records that are put at once may be stored together. A sink that fails rejects: the task then waits again, at
 * no attempt, and the worker stops consuming. Only a {@link RecordRefusedError} is the record's own fault. A record is at
 * most `MAX_RECORD_BYTES` long: longer content is cut, and a record that is too large without content is refused.
 *
 * Implementations: `sinks/jsonl`, `sinks/postgres`; both pass `test/contract/suites/sink.contract.ts`.
 */
export interface Sink extends Service {
  put(record: PageRecord): Promise<void>;
  /** Resolves when all records put so far survive a power cut, too. Left out where `put` promises that already. */
  sync?(): Promise<void>;
}

/** Between two syncs of what was written on this machine: a power cut costs what was done in twice the time. */
export const SYNC_EVERY_MS = 1_000;

/** Reads what sinks of one kind stored. */
export interface RecordSource {
  /** The merged records of a run: one per task, of its highest release, in no order that could be relied on. */
  read(run: string, watch?: ReadWatch): AsyncIterable<PageRecord>;
  /** The record of one task, of its highest release, without reading all of its run. */
  find(run: string, task: string): Promise<PageRecord | undefined>;
  /** Is anything stored of this run? */
  has(run: string): Promise<boolean>;
  /** The runs that have stored records. */
  runs(): Promise<readonly string[]>;
  /** The run that began last, by its first record; nothing if there is none. */
  last(): Promise<string | undefined>;
  /** What would keep a sink from storing records there; nothing if nothing does. Left out where only trying tells. */
  storingProblem?(): Promise<string | undefined>;
  /** Releases what reading holds. */
  close(): Promise<void>;
}

/** What a reader of records hears beside them. */
export interface ReadWatch {
  /** Told of stored lines that aren't records, and are left out. */
  readonly onNoRecord?: ((found: NoRecord) => void) | undefined;
  /** Told how many of the records are of pages that are done, or more if some of these were recorded again, before the first record is given. */
  readonly onCounted?: ((done: number) => void) | undefined;
  /** Ends the reading, with its reason, also before the first record. */
  readonly signal?: AbortSignal | undefined;
}

/** A stored line that isn't a record: written by hand, or left by a broken disk. */
export interface NoRecord {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** Its first characters, as they are: to be made printable. */
  readonly begins: string;
}

/** No store will ever take this record: the crawler's data can't be written. */
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
