import { DAY_MS } from '../../task/durations.ts';
import { PAGE_RETENTION_MS } from '../../task/task/known-page.ts';
import type { LocalDatabase } from './database/database.ts';
import { ROWS_AT_ONCE } from './database/schema.ts';
import { dropGroup } from './moves/groups.ts';
import type { LocalStore } from './moves/local-store.ts';

/** Number of ended runs that are kept for people to look at: the newest ones. */
const MOST_ENDED = 100;
/** Maximum known URLs of ended runs: about a gigabyte. Beyond it, the runs that ended first lose their marks, but stay otherwise. */
const MOST_MARKS = 10_000_000;
/** Time for which a host's record is kept after the latest time in it. */
const HOST_KEPT_MS = DAY_MS;
/** A sweep reads all pages, as an index of their times would have to be written at each visit. So not every run's end makes one. */
const PAGES_SWEPT_EVERY_MS = DAY_MS;
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

/** The column that distinguishes the rows of a run, in tables that may have very many. */
const KEYS: Readonly<Partial<Record<string, string>>> = { marks: 'mark', tasks: 'id', letters: 'n' };

/**
 * Deletes ended runs except for the newest ones, and marks of those that stay if there are too many. The very newest run keeps its
 * marks, and so do runs whose letters can be replayed.
 *
 * @param mostMarks only tests set it
 */
export async function sweepEnded({ move }: Pick<LocalStore, 'move'>, mostMarks = MOST_MARKS): Promise<void> {
  await move((moves) => {
    moves.flush();
    moves.forgetRows();
    const { database } = moves;
    const old = '(SELECT n FROM runs WHERE endedAt IS NOT NULL ORDER BY endedAt DESC LIMIT -1 OFFSET ?)';
    database.run(`INSERT OR IGNORE INTO leftovers SELECT n FROM runs WHERE n IN ${old}`, MOST_ENDED);
    // Not for all leftovers, since some runs lose only their marks.
    database.run(`DELETE FROM crawls WHERE run IN (SELECT id FROM runs WHERE n IN ${old})`, MOST_ENDED);
    database.run(`DELETE FROM runs WHERE n IN ${old}`, MOST_ENDED);
    database.run(
      `INSERT OR IGNORE INTO leftovers SELECT old FROM (
         SELECT n AS old, sum(discovered) OVER ended AS total, row_number() OVER ended AS place FROM runs WHERE endedAt IS NOT NULL
         WINDOW ended AS (ORDER BY endedAt DESC, n DESC))
       WHERE total > ? AND place > 1 AND NOT EXISTS (SELECT 1 FROM letters WHERE run = old AND run > 0)
         AND EXISTS (SELECT 1 FROM marks WHERE owner = old)`,
      mostMarks,
    );
  });
}

/** Deletes the rows of deleted runs, and the marks of runs that lose only these, some at a time, so that no other call waits long. */
export async function deleteLeftovers({ move }: Pick<LocalStore, 'move'>): Promise<void> {
  for (;;) {
    const isMore = await move(({ database }) => {
      const gone = database.get<{ run: number }>('SELECT run FROM leftovers LIMIT 1');
      if (gone === undefined) return false;
      if (dropSomeGroups(database, gone.run)) return true;
      const isThere = database.get('SELECT 1 FROM runs WHERE n = ?', gone.run) !== undefined;
      for (const [table, column] of TABLES) {
        if (isThere && table !== 'marks') continue;
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

/** Deletes the records of hosts in which nothing matters any more, some at a time. */
export async function forgetHosts({ move }: Pick<LocalStore, 'move'>): Promise<void> {
  let after: string | undefined = '';
  while (after !== undefined) {
    const from: string = after;
    after = await move((moves) => {
      moves.flush();
      moves.forgetRows();
      const { database, now } = moves;
      const hosts = database.all<{ host: string }>(
        'SELECT host FROM hosts WHERE host > ? ORDER BY host LIMIT ?',
        ...[from, ROWS_AT_ONCE],
      );
      const last = hosts.at(-1)?.host;
      if (last === undefined) return undefined;
      database.run(
        `DELETE FROM hosts WHERE host > ? AND host <= ? AND byHand = 0 AND handLimit = 0 AND places = '' AND
           max(nextAt, pausedUntil, releaseAt, intervalUntil, crawlDelayUntil, slowSince, answeredAt, openUntil, probeUntil) < ?`,
        ...[from, last, now - HOST_KEPT_MS],
      );
      return hosts.length < ROWS_AT_ONCE ? undefined : last;
    });
  }
}

/** Deletes what incremental runs remember of pages that none has fetched for a long time, some at a time; at most once a day. */
export async function forgetPages({ move }: Pick<LocalStore, 'move'>): Promise<void> {
  let after = await move(({ database, now }) => {
    const began = database.run(
      'UPDATE pagesSwept SET at = ?1 WHERE at > ?1 OR at <= ?2',
      ...[now, now - PAGES_SWEPT_EVERY_MS],
    );
    return began > 0 ? '' : undefined;
  });
  while (after !== undefined) {
    const from: string = after;
    after = await move(({ database, now }) => {
      const pages = database.all<{ mark: string }>(
        'SELECT mark FROM pages WHERE mark > ? ORDER BY mark LIMIT ?',
        ...[from, ROWS_AT_ONCE],
      );
      const last = pages.at(-1)?.mark;
      if (last === undefined) return undefined;
      database.run(
        'DELETE FROM pages WHERE mark > ? AND mark <= ? AND fetchedAt <= ?',
        ...[from, last, now - PAGE_RETENTION_MS],
      );
      return pages.length < ROWS_AT_ONCE ? undefined : last;
    });
  }
}

/** Deletes some groups of a run. Returns whether there may be more. */
function dropSomeGroups(database: LocalDatabase, run: number): boolean {
  const some = database.all<{ id: number }>('SELECT id FROM groups WHERE run = ? LIMIT ?', run, ROWS_AT_ONCE);
  for (const { id } of some) dropGroup(database, id);
  return some.length === ROWS_AT_ONCE;
}
