import { HOUR_MS } from '../../task/durations.ts';
import type { ReleaseName, TaskState } from './frontier.ts';

/** After this long without a worker that has a step, the step's tasks fail. */
export const STEP_MISSING_MS = 6 * HOUR_MS;
/** If no worker received a task of the step for this long, the count restarts: the fleet was down, or the host rested. */
export const MISSING_GAP_MS = HOUR_MS;

/** An optional ability, for workers that receive tasks of a step they don't have. */
export interface MissingSteps {
  /**
   * Reports that the caller lacks the step of a task it received. Returns how long this run's tasks of the step have reached only
   * such callers. An admission as `work` restarts the count, as does {@link MISSING_GAP_MS} without a call. Returns `undefined` if
   * the ledger doesn't hold this release.
   */
  missing(
    run: string,
    release: ReleaseName,
  ): Promise<{ readonly forMs: number; readonly state: TaskState } | undefined>;
}
