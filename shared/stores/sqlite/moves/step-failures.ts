import type { AttemptNote } from '../../../ports/frontier/frontier.ts';
import { byPages, MOST_STEP_FAILURES, type RunProgress, type StepFailure } from '../../../ports/runs.ts';
import type { LocalDatabase } from '../database/database.ts';
import { type Noting, notesOf } from './attempt-notes.ts';

/** Counts a failed page by the place in the crawler where its step failed. Most failed pages have no such place. */
export function countStepFailure(database: LocalDatabase, run: number, { place, error = '' }: AttemptNote): void {
  if (place === undefined) return;
  const update = 'UPDATE stepFailures SET pages = pages + 1 WHERE run = ? AND place = ?';
  if (database.run(update, run, place) > 0) return;
  const known = database.get<{ n: number }>('SELECT count(*) AS n FROM stepFailures WHERE run = ?', run)?.n ?? 0;
  if (known < MOST_STEP_FAILURES) database.run('INSERT INTO stepFailures VALUES (?, ?, 1, ?)', run, place, error);
}

/** Takes back the failure of a page that is worked once more, if the place is still noted. */
export function uncountStepFailure(moves: Noting, run: number, mark: string): void {
  uncountPlace(moves.database, run, placeOfFailure(moves, mark));
}

/** Returns where the step of a failed page failed; undefined if it failed for another reason, or if that is no longer noted. */
export function placeOfFailure(moves: Noting, mark: string): string | undefined {
  return notesOf(moves, mark)[0]?.place;
}

/** Takes back one failure at a place, if there was a place. */
export function uncountPlace(database: LocalDatabase, run: number, place: string | undefined): void {
  if (place === undefined) return;
  database.run('UPDATE stepFailures SET pages = pages - 1 WHERE run = ? AND place = ?', run, place);
  database.run('DELETE FROM stepFailures WHERE run = ? AND pages <= 0', run);
}

/** Returns a run's step failures. */
export function stepFailuresOf(database: LocalDatabase, run: number): Pick<RunProgress, 'stepFailures'> {
  const found = database.all<StepFailure & Record<string, unknown>>(
    'SELECT place, pages, error FROM stepFailures WHERE run = ?',
    run,
  );
  return found.length === 0
    ? {}
    : { stepFailures: byPages(found.map(({ place, pages, error }) => ({ place, pages, error }))) };
}
