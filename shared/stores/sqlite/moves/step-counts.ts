import { MOST_STEP_COUNTS, NO_STEP_COUNTS, type RunProgress, type StepCounts } from '../../../ports/runs.ts';
import { FIRST_STEP, MALFORMED_HOST, stepOfMark } from '../../../task/url/fingerprint.ts';
import type { LocalDatabase } from '../database/database.ts';
import type { TaskRow } from './rows/task-rows.ts';

type Counted = Pick<TaskRow, 'host' | 'mark'>;

/** Counts a task by the step that its mark carries. Most runs have no steps. A negative `by` takes counts back. */
export function countStep(
  database: LocalDatabase,
  run: number,
  { host, mark }: Counted,
  state: keyof StepCounts,
  by: number = 1,
): void {
  const step = host === MALFORMED_HOST ? FIRST_STEP : stepOfMark(mark);
  if (step === FIRST_STEP) return;
  const about = [run, step, state] as const;
  const update = 'UPDATE steps SET count = count + ?4 WHERE run = ?1 AND step = ?2 AND state = ?3';
  if (database.run(update, ...about, by) > 0 || by < 0) return;
  const known = database.get<{ n: number }>('SELECT count(*) AS n FROM steps WHERE run = ?', run)?.n ?? 0;
  if (known < MOST_STEP_COUNTS) database.run('INSERT INTO steps VALUES (?, ?, ?, 1)', ...about);
}

/** Returns a run's counts by step. */
export function stepCountsOf(database: LocalDatabase, run: number): Pick<RunProgress, 'steps'> {
  const rows = database.all<{ step: string; state: keyof StepCounts; count: number }>(
    'SELECT step, state, count FROM steps WHERE run = ?',
    run,
  );
  const steps: Record<string, StepCounts> = {};
  for (const { step, state, count } of rows) steps[step] = { ...(steps[step] ?? NO_STEP_COUNTS), [state]: count };
  return rows.length === 0 ? {} : { steps };
}
