import type { LocalDatabase } from '../../database/database.ts';

/** Deletes the letter of a task, if it has one. A query uses the index, which has only letters of runs, only if it says `run > 0`. */
export function deleteLetter(database: LocalDatabase, run: number, id: string): void {
  database.run('DELETE FROM letters WHERE run = ? AND id = ? AND run > 0', run, id);
}
