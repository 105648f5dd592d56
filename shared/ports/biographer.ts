import type { Queue } from '../task/task/routing.ts';
import type { TaskState } from './frontier/frontier.ts';
import type { HostCircumstances } from './host-overview.ts';
import type { RunState } from './runs.ts';

/**
 * Finds a task in a frontier, for a person who asks what became of a URL. It searches a host's list in chunks, so that even
 * a list of a million tasks blocks nothing.
 *
 * Implementations: beside the frontier's, in `stores/redis` and `stores/sqlite`.
 */
export interface Biographer {
  /** Returns whether any run that shares its marks with others has taken the URL. */
  isKnown(mark: string): Promise<boolean>;
  /** Returns what a run knows about a task; `undefined` if the store doesn't know the run. */
  trace(
    run: string,
    task: { readonly mark: string; readonly host: string },
    how?: HowToTrace,
  ): Promise<TaskTrace | undefined>;
}

export interface HowToTrace {
  /**
   * One of very many runs: searches only once, and not the lists of other hosts, where redirects may have led the task. The place of a
   * task that moves meanwhile, or waits there, may be missing.
   */
  readonly isQuick?: boolean;
}

export interface TaskTrace {
  readonly run: string;
  readonly runState: RunState;
  /** The run has marks of its own. */
  readonly hasOwnMarks: boolean;
  /** The URL is in the run's marks: taken by this run or, if marks are shared, by another. */
  readonly isMarked: boolean;
  /** The task failed in this run. */
  readonly hasFailed: boolean;
  /** Where the task is now. Absent if it neither waits nor is in flight. */
  readonly place?: Place;
  /** The state of the host it waits for. */
  readonly host: HostCircumstances & {
    /** Milliseconds until release checks the host again, as far as is known. */
    readonly nextLookMs: number;
  };
}

export type Place =
  /** In its host's list, behind `ahead` other tasks. `host` is set if redirects have moved it to another host's list. */
  | {
      readonly at: 'waiting';
      readonly queue: Queue;
      readonly ahead: number;
      readonly host?: string;
      readonly state: TaskState;
    }
  /** Waiting until its next attempt is due, in `inMs`, and with `forRoom` also until the store has room for its links. */
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
      /** Milliseconds until the lease lapses and the task waits again, unless the lease is renewed. */
      readonly leaseMs: number;
      readonly worker?: string;
      /** Milliseconds that the worker has had the task. */
      readonly forMs?: number;
      readonly state: TaskState;
    };
