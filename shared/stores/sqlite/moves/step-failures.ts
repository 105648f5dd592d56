import type { AttemptNote } from '../../../ports/frontier.ts';
import { byPages, MOST_STEP_FAILURES, type RunProgress, type StepFailure } from '../../../ports/runs.ts';
import type { LocalDatabase } from '../database/database.ts';
import { notesOf } from './attempt-notes.ts';
import type { Moves } from './moves.ts';

/** Counts a failed page by the place of the crawler where its step failed. Most pages have none. */
export function countStepFailure(database: LocalDatabase, run: number, { place, error = '' }: AttemptNote): void {
  if (place === undefined) return;
  const update = 'UPDATE stepFailures SET pages = pages + 1 WHERE run = ? AND place = ?';
  if (database.run(update, run, place) > 0) return;
  const known = database.get<{ n: number }>('SELECT count(*) AS n FROM stepFailures WHERE run = ?', run)?.n ?? 0;
  if (known < MOST_STEP_FAILURES) database.run('INSERT INTO stepFailures VALUES (?, ?, 1, ?)', run, place, error);
}

/** Takes back the failure of a page that is worked once more, if the place is still noted. */
export function uncountStepFailure(moves: Moves, run: number, mark: string): void {
  const place = notesOf(moves, mark)[0]?.place;
  if (place === undefined) return;
  moves.database.run('UPDATE stepFailures SET pages = pages - 1 WHERE run = ? AND place = ?', run, place);
  moves.database.run('DELETE FROM stepFailures WHERE run = ? AND pages <= 0', run);
}

/** Those of a run. */
export function stepFailuresOf(database: LocalDatabase, run: number): Pick<RunProgress, 'stepFailures'> {
  const found = database.all<StepFailure & Record<string, unknown>>(
    'SELECT place, pages, error FROM stepFailures WHERE run = ?',
    run,
  );
  return found.length === 0
    ? {}
    : { stepFailures: byPages(found.map(({ place, pages, error }) => ({ place, pages, error }))) };
}
