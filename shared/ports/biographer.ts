import type { Queue } from '../task/task/routing.ts';
import type { TaskState } from './frontier/frontier.ts';
import type { HostCircumstances } from './host-overview.ts';
import type { RunState } from './runs.ts';

/**
 * Finds a task in a frontier, for a person who asks what became of a URL. It searches a host's list in chunks, so that a
 * list of a million blocks nothing.
 *
 * Implementations stand beside the frontier's, in `stores/redis` and `stores/sqlite`.
 */
export interface Biographer {
  /** Have runs that share their marks taken it? */
  isKnown(mark: string): Promise<boolean>;
  /** What a run knows of a task; nothing if the store doesn't know the run. */
  trace(run: string, task: { readonly mark: string; readonly host: string }): Promise<TaskTrace | undefined>;
}

export interface TaskTrace {
  readonly run: string;
  readonly runState: RunState;
  /** The run has marks of its own. */
  readonly hasOwnMarks: boolean;
  /** The URL is in the run's marks: taken by this run or, if marks are shared, by another. */
  readonly isMarked: boolean;
  /** It failed in this run. */
  readonly hasFailed: boolean;
  /** Where it is now; nothing if it neither waits nor is in flight. */
  readonly place?: Place;
  /** Of the host that it waits for. */
  readonly host: HostCircumstances & {
    /** Milliseconds until release looks at the host again, as far as is known. */
    readonly nextLookMs: number;
  };
}

export type Place =
  /** Number of tasks before it in its host's list; `host`: that of another host, which redirects have led it to. */
  | {
      readonly at: 'waiting';
      readonly queue: Queue;
      readonly ahead: number;
      readonly host?: string;
      readonly state: TaskState;
    }
  /** Until its next attempt is due; `forRoom`: and until the store has room for its links. */
  | {
      readonly at: 'retry';
      readonly queue: Queue;
      readonly inMs: number;
      readonly forRoom?: true;
      readonly state: TaskState;
    }
  /** In flight: on its way to the broker, in one of its queues, or in a worker's hands. */
  | {
      readonly at: 'publishing' | 'queued' | 'working';
      readonly queue: Queue;
      readonly release: number;
      /** Until it waits again, if nobody renews the lease. */
      readonly leaseMs: number;
      readonly worker?: string;
      /** How long that worker has had it, in milliseconds. */
      readonly forMs?: number;
      readonly state: TaskState;
    };
