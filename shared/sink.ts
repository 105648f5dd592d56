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
}
