import type { RunProgress } from '../../shared/ports/runs.ts';
import { WORK_COMMAND } from '../../shared/runtime/started-as.ts';
import type { ProducerProgress } from '../producer/producer-progress.ts';

/** Returns the output of `produce`. */
export function producedJson(
  { run, state, discovered, duplicate, waiting, inFlight, leftOut }: RunProgress,
  { malformed, older, unwanted }: Pick<ProducerProgress, 'malformed' | 'older' | 'unwanted'>,
  workers: number,
): object {
  const counts = { run, state, discovered, duplicate, malformed, waiting, inFlight, leftOut, older, unwanted, workers };
  return { ...counts, ...(workers === 0 ? { workerCommand: WORK_COMMAND } : {}) };
}
