import type { LocalReplay, ReplayedTask, ReplayFate } from '../../../ports/local-letters.ts';
import { MARK } from '../database/schema.ts';
import { sessionOf } from './mark-table.ts';
import type { Moves } from './moves.ts';
import type { RunRow } from './run-rows.ts';
import { newTask } from './task-rows.ts';
import { NO_TROUBLE } from './troubles.ts';

/** Lets failed tasks of a run wait again; see `ports/local-letters.ts`. */
export function replayTasks(moves: Moves, id: string, tasks: readonly ReplayedTask[]): LocalReplay {
  const run = moves.run(id);
  if (run === undefined) return { refused: 'unknown' };
  if (run.state === 'cancelled') return { refused: 'cancelled' };
  const fates = tasks.map((task) => replayTask(moves, run, task));
  if (fates.includes('taken')) {
    if (run.endedAt !== null) moves.reopen(run);
    moves.database.run('UPDATE crawls SET touchedAt = ? WHERE run = ?', moves.now, run.id);
  }
  return { fates };
}

function replayTask(moves: Moves, run: RunRow, { id, reason, offer }: ReplayedTask): ReplayFate {
  const { database, marks } = moves;
  const { host, mark } = offer;
  const owner = moves.ownerOf(run);
  if (marks.has(owner, mark, MARK.taken)) {
    const live = marks.liveTask(owner, mark);
    // A task's letter is stored a moment before it counts as failed.
    const inFlight =
      live !== undefined &&
      database.get('SELECT 1 FROM tasks WHERE id = ? AND release IS NOT NULL', live) !== undefined;
    return inFlight ? 'inFlight' : 'known';
  }
  // The failed task may still be kept, in case of a power cut.
  const before = marks.retake({ owner, run: run.n, mark, task: moves.nextTask, session: sessionOf(run, owner) });
  if (before !== undefined)
    database.run('DELETE FROM tasks WHERE id = ? AND mark = ? AND over IS NOT NULL', before, mark);
  if (run.failed === 0) run.discovered++;
  else {
    run.failed--;
    database.run(
      "UPDATE reasons SET count = count - 1 WHERE run = ? AND kind = 'failed' AND reason = ? AND count > 0",
      ...[run.n, reason],
    );
  }
  run.waiting++;
  moves.add(run, newTask(offer, moves.now));
  // If it was in trouble for too long before, the host would be given up at once.
  Object.assign(moves.runHost(run, host), NO_TROUBLE);
  database.run('DELETE FROM letters WHERE run = ? AND id = ?', run.n, id);
  return 'taken';
}
