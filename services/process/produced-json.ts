import type { RunProgress } from '../../shared/ports/runs.ts';
import { WORK_COMMAND } from '../../shared/runtime/started-as.ts';
import type { ProducerProgress } from '../producer/producer-progress.ts';

/** Returns the output of `produce`. @param isLocal whether the run is crawled by the process that opened it, and so needs no workers */
export function producedJson(
  { run, state, discovered, duplicate, waiting, inFlight, leftOut }: RunProgress,
  { malformed, older, unwanted }: Pick<ProducerProgress, 'malformed' | 'older' | 'unwanted'>,
  workers: number,
  isLocal = false,
): object {
  const counts = { run, state, discovered, duplicate, malformed, waiting, inFlight, leftOut, older, unwanted, workers };
  return { ...counts, ...(workers === 0 && !isLocal ? { workerCommand: WORK_COMMAND } : {}) };
}
