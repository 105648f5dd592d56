import type { Moves } from './moves.ts';

/**
 * The time in which nobody crawled a run doesn't count: neither in how long it took, nor in how long its hosts have given errors. One
 * more would have a host given up that was hardly ever asked.
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
