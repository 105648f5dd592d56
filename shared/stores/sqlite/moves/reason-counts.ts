import type { RunProgress } from '../../../ports/runs.ts';
import type { LocalDatabase } from '../database/database.ts';

type Kind = keyof RunProgress['reasons'];

/** Counts a task by the reason why it failed or was skipped. */
export function countReason(database: LocalDatabase, run: number, kind: Kind, reason: string): void {
  database.run(
    'INSERT INTO reasons (run, kind, reason, count) VALUES (?, ?, ?, 1) ON CONFLICT DO UPDATE SET count = count + 1',
    ...[run, kind, reason],
  );
}

/** Takes such a count back. */
export function uncountReason(database: LocalDatabase, run: number, kind: string, reason: string, by = 1): void {
  database.run(
    'UPDATE reasons SET count = max(0, count - ?) WHERE run = ? AND kind = ? AND reason = ?',
    ...[by, run, kind, reason],
  );
}

/** Returns a run's counts by reason. */
export function reasonsOf(database: LocalDatabase, run: number): RunProgress['reasons'] {
  const reasons: Record<Kind, Record<string, number>> = { failed: {}, skipped: {} };
  const rows = database.all<{ kind: Kind; reason: string; count: number }>(
    'SELECT kind, reason, count FROM reasons WHERE run = ? AND count > 0',
    run,
  );
  for (const { kind, reason, count } of rows) reasons[kind][reason] = count;
  return reasons;
}
