import type { AttemptNote } from '../../../ports/frontier/frontier.ts';
import { DAY_MS } from '../../../task/durations.ts';
import type { LocalDatabase } from '../database/database.ts';

const MOST_NOTES = 10;
const NOTED_MS = DAY_MS;
/** Maximum notes of all tasks together; the oldest go first. */
export const MOST_KEPT = 100_000;

/** The database that keeps notes, and its time. */
export interface Noting {
  readonly database: LocalDatabase;
  readonly now: number;
}

/** Returns the failed attempts of a task, newest first. */
export function notesOf({ database, now }: Noting, mark: string): AttemptNote[] {
  const rows = database.all<{ note: string }>(
    'SELECT note FROM attempts WHERE mark = ? AND at > ? ORDER BY id DESC LIMIT ?',
    ...[mark, now - NOTED_MS, MOST_NOTES],
  );
  return rows.map(({ note }) => JSON.parse(note) as AttemptNote);
}

export function keepNote({ database, now }: Noting, mark: string, note: AttemptNote): void {
  database.run('INSERT INTO attempts (mark, at, note) VALUES (?, ?, ?)', mark, now, JSON.stringify(note));
  database.run(
    'DELETE FROM attempts WHERE mark = ?1 AND id NOT IN (SELECT id FROM attempts WHERE mark = ?1 ORDER BY id DESC LIMIT ?2)',
    mark,
    MOST_NOTES,
  );
  // Ids only grow: notes this far back are over the limit, whichever task they belong to.
  database.run('DELETE FROM attempts WHERE id <= (SELECT max(id) FROM attempts) - ?', MOST_KEPT);
}
