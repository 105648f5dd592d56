import type { LocalDatabase } from './database/database.ts';
import { ROWS_AT_ONCE } from './database/schema.ts';
import { dropGroup } from './moves/groups.ts';
import type { LocalStore } from './moves/local-store.ts';

/** Ended runs that are kept for people to look at: the newest. */
const MOST_ENDED = 100;
/** Free pages of the file that are returned to the system at once. */
const PAGES_AT_ONCE = 256;

/** Tables with rows of runs, and the column with the run's number. */
const TABLES = [
  ['tasks', 'run'],
  ['marks', 'owner'],
  ['runHosts', 'run'],
  ['domainHosts', 'run'],
  ['producers', 'run'],
  ['reasons', 'run'],
  ['steps', 'run'],
  ['stepFailures', 'run'],
  ['letters', 'run'],
  ['endedGroups', 'run'],
] as const;

/** The column that tells rows of a run apart, in tables that may have very many. */
const KEYS: Readonly<Partial<Record<string, string>>> = { marks: 'mark', tasks: 'id', letters: 'n' };

/** Deletes ended runs, except for the newest. */
export async function sweepEnded({ move }: Pick<LocalStore, 'move'>): Promise<void> {
  await move((moves) => {
    moves.flush();
    moves.forgetRows();
    const { database } = moves;
    const old = '(SELECT n FROM runs WHERE endedAt IS NOT NULL ORDER BY endedAt DESC LIMIT -1 OFFSET ?)';
    database.run(`INSERT OR IGNORE INTO leftovers SELECT n FROM runs WHERE n IN ${old}`, MOST_ENDED);
    database.run('DELETE FROM crawls WHERE run IN (SELECT id FROM runs JOIN leftovers ON leftovers.run = n)');
    database.run('DELETE FROM runs WHERE n IN (SELECT run FROM leftovers)');
  });
}

/** Deletes what is left of deleted runs, some rows at a time, so that no other call waits long. */
export async function deleteLeftovers({ move }: Pick<LocalStore, 'move'>): Promise<void> {
  for (;;) {
    const isMore = await move(({ database }) => {
      const gone = database.get<{ run: number }>('SELECT run FROM leftovers LIMIT 1');
      if (gone === undefined) return false;
      if (dropSomeGroups(database, gone.run)) return true;
      for (const [table, column] of TABLES) {
        const key = KEYS[table];
        const where =
          key === undefined
            ? `${column} = ?`
            : `${column} = ?1 AND ${key} IN (SELECT ${key} FROM ${table} WHERE ${column} = ?1 LIMIT ${ROWS_AT_ONCE})`;
        if (database.run(`DELETE FROM ${table} WHERE ${where}`, gone.run) === ROWS_AT_ONCE && key !== undefined)
          return true;
      }
      database.run('DELETE FROM leftovers WHERE run = ?', gone.run);
      return true;
    });
    if (!isMore) break;
  }
  await move(({ database }) => database.all(`PRAGMA incremental_vacuum(${PAGES_AT_ONCE})`));
}

/** Returns whether there may be more. */
function dropSomeGroups(database: LocalDatabase, run: number): boolean {
  const some = database.all<{ id: number }>('SELECT id FROM groups WHERE run = ? LIMIT ?', run, ROWS_AT_ONCE);
  for (const { id } of some) dropGroup(database, id);
  return some.length === ROWS_AT_ONCE;
}
