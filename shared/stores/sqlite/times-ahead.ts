import { ROWS_AT_ONCE } from './database/schema.ts';
import type { LocalStore } from './moves/local-store.ts';

/**
 * Ends the waits begun by a process whose clock was days ahead: its slots, pauses and retries would hold up later crawls until then.
 * This happens only once, since it leaves no time by which such a clock could be noticed.
 */
export async function endTimesAhead({ move }: Pick<LocalStore, 'move'>): Promise<void> {
  while (
    await move(
      ({ database, now }) =>
        database.run(
          `UPDATE tasks SET dueAt = ?1 WHERE id IN (
             SELECT tasks.id FROM runs JOIN tasks ON tasks.run = runs.n WHERE runs.endedAt IS NULL AND dueAt > ?1 LIMIT ${ROWS_AT_ONCE})`,
          now,
        ) === ROWS_AT_ONCE,
    )
  ) {}
  await move((moves) => {
    moves.flush();
    moves.forgetRows();
    const { database, now } = moves;
    database.run(
      `UPDATE hosts SET nextAt = min(nextAt, ?1), releaseAt = min(releaseAt, ?1), intervalUntil = min(intervalUntil, ?1),
         crawlDelayUntil = min(crawlDelayUntil, ?1), slowSince = min(slowSince, ?1), answeredAt = min(answeredAt, ?1),
         openUntil = min(openUntil, ?1), probeUntil = min(probeUntil, ?1),
         pausedUntil = CASE byHand WHEN 1 THEN pausedUntil ELSE min(pausedUntil, ?1) END`,
      now,
    );
    database.run(
      `UPDATE runHosts SET readyAt = min(readyAt, ?1), troubleSince = min(troubleSince, ?1), troubleLast = min(troubleLast, ?1),
         silentSince = min(silentSince, ?1) WHERE run IN (SELECT n FROM runs WHERE endedAt IS NULL)`,
      now,
    );
    database.run(
      'UPDATE runs SET startedAt = min(startedAt, ?1), endedAt = min(endedAt, ?1), lookAt = min(lookAt, ?1)',
      now,
    );
    database.run('UPDATE crawls SET touchedAt = min(touchedAt, ?1)', now);
  });
}
