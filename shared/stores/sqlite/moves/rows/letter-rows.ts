import type { LocalDatabase } from '../../database/database.ts';

/** Deletes the letter of a task, if it has one. The index has the letters of runs alone: a query uses it only if it says `run > 0`. */
export function deleteLetter(database: LocalDatabase, run: number, id: string): void {
  database.run('DELETE FROM letters WHERE run = ? AND id = ? AND run > 0', run, id);
}
