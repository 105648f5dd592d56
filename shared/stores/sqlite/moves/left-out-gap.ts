import type { Moves } from './moves.ts';

/**
 * Leaves out time in which nobody crawled a run: it counts neither in the run's duration nor in how long its hosts have given errors.
 * Otherwise, one more error could give up a host that was hardly ever asked.
 */
export function leaveOutGap(moves: Moves, run: string, gapMs: number): void {
  const row = moves.run(run);
  if (row === undefined || row.endedAt !== null) return;
  row.startedAt += gapMs;
  moves.flush();
  moves.database.run(
    `UPDATE runHosts SET troubleSince = troubleSince + ?1, troubleLast = troubleLast + ?1, silentSince = silentSince + ?1
     WHERE run = ?2 AND troubleSince IS NOT NULL`,
    ...[gapMs, row.n],
  );
  moves.forgetRows();
}
