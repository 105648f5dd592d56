import type { Service } from './lifecycle.ts';
import type { PageRecord } from './record.ts';

/**
 * Where records go.
 *
 * When `put` resolves, a crash of this process no longer loses the record. It is an upsert by task where the store can;
 * elsewhere a page may be stored twice after a crash, and reading merges: the highest release per task. A sink that
 * fails rejects: the task then waits again, at no attempt, and the worker stops consuming.
 */
export interface Sink extends Service {
  put(record: PageRecord): Promise<void>;
  /** Resolves when all that was put outlasts a power cut, too. Left out where `put` promises that already. */
  sync?(): Promise<void>;
}

/** Reads what sinks of one kind stored. */
export interface RecordSource {
  /** The merged records of a run: one per task, of its highest release. */
  read(run: string): AsyncIterable<PageRecord>;
  /** Is anything stored of this run? */
  has(run: string): Promise<boolean>;
  /** The runs that something is stored of. */
  runs(): Promise<readonly string[]>;
}

/** An optional ability of a source: one task's record, without reading all of its run. */
export interface RecordLookup {
  /** Of its highest release. */
  find(run: string, task: string): Promise<PageRecord | undefined>;
}
