import { HOUR_MS } from '../../task/durations.ts';
import type { ReleaseName, TaskState } from './frontier.ts';

/** After this long without a worker that has a step, the step's tasks fail. */
export const STEP_MISSING_MS = 6 * HOUR_MS;
/** If no worker was handed a task of the step for this long, its time begins anew: the fleet was down, or its host rested. */
export const MISSING_GAP_MS = HOUR_MS;

/** An optional ability, for workers that are handed tasks of a step that they don't have. */
export interface MissingSteps {
  /**
   * The caller hasn't the step of a task that it was handed. Says for how long tasks of the step were handed to such callers only,
   * counted per run: an admission as `work` ends that, and so does {@link MISSING_GAP_MS} without a call. Nothing if the ledger
   * doesn't hold this release.
   */
  missing(
    run: string,
    release: ReleaseName,
  ): Promise<{ readonly forMs: number; readonly state: TaskState } | undefined>;
}
