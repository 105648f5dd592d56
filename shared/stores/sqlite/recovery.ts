import { JOIN_HOST } from '../../task/group/group.ts';
import { isMember } from '../../task/group/plan.ts';
import { idOf } from '../../task/task/task.ts';
import { MARK, ROWS_AT_ONCE } from './database/schema.ts';
import type { LocalStore } from './moves/local-store.ts';
import type { Moves } from './moves/moves.ts';
import { uncountReason } from './moves/reason-counts.ts';
import { deleteLetter } from './moves/rows/letter-rows.ts';
import { sessionOf } from './moves/rows/mark-table.ts';
import type { RunRow } from './moves/rows/run-rows.ts';
import { type Ending, endingOf, type TaskRow } from './moves/rows/task-rows.ts';
import { optionsOf } from './moves/run-options.ts';
import { countStep } from './moves/step-counts.ts';
import { uncountStepFailure } from './moves/step-failures.ts';

/**
 * Recovers a run whose last owner is gone. Tasks in flight wait again, at the head of their host's list. Producers died with
 * their process, so another has to offer the seeds that they had not offered yet. After a power cut, tasks whose records may not
 * have reached the disk wait again too.
 *
 * @returns whether all seeds had been offered
 */
export async function putRunBack(
  store: LocalStore,
  id: string,
  { hadPowerCut }: { readonly hadPowerCut: boolean },
): Promise<boolean> {
  if (hadPowerCut) while (await store.move((moves) => withRun(moves, id, takeSomeBack))) {}
  while (await store.move((moves) => withRun(moves, id, landSome))) {}
  return await store.move((moves) => {
    const run = moves.run(id);
    if (run === undefined) return false;
    run.session++;
    // Seeds that are read again are counted again.
    run.duplicate -= run.knownOfSeeds;
    run.knownOfSeeds = 0;
    if (moves.hasProducers(run)) run.completed = 0;
    moves.database.run('DELETE FROM producers WHERE run = ?', run.n);
    moves.finishIfDone(run);
    return run.completed > 0;
  });
}

function withRun(moves: Moves, id: string, work: (moves: Moves, run: RunRow) => boolean): boolean {
  const run = moves.run(id);
  return run !== undefined && work(moves, run);
}

/** Puts back some tasks in flight. Returns whether there may be more. */
function landSome(moves: Moves, run: RunRow): boolean {
  // The last number first, since each goes to the head of its list.
  const tasks = moves.database.all<TaskRow>(
    'SELECT * FROM tasks WHERE run = ? AND release IS NOT NULL ORDER BY release DESC LIMIT ?',
    run.n,
    ROWS_AT_ONCE,
  );
  for (const task of tasks) {
    moves.land(run);
    run.duplicate -= task.known;
    moves.database.run('UPDATE tasks SET known = 0 WHERE id = ?', task.id);
    deleteLetterOf(moves, run, task);
    moves.putBack(run, { ...task });
  }
  return tasks.length === ROWS_AT_ONCE;
}

/** Deletes a task's letter. It is stored before the task has failed for good, and a waiting task must have none. */
function deleteLetterOf({ database }: Moves, { n, id: run }: RunRow, { mark }: TaskRow): void {
  deleteLetter(database, n, idOf({ run, mark }));
}

/** Takes back the endings of some tasks. Returns whether there may be more. */
function takeSomeBack(moves: Moves, run: RunRow): boolean {
  const tasks = moves.database.all<TaskRow>(
    'SELECT * FROM tasks WHERE run = ? AND over IS NOT NULL LIMIT ?',
    run.n,
    ROWS_AT_ONCE,
  );
  for (const task of tasks) takeBack(moves, run, { ...task });
  if (tasks.length < ROWS_AT_ONCE) moves.groups.makeTakenBack(run);
  if (tasks.length > 0 && run.endedAt !== null) moves.reopen(run);
  return tasks.length === ROWS_AT_ONCE;
}

function takeBack(moves: Moves, run: RunRow, task: TaskRow): void {
  moves.groups.takenBack(run, task);
  unmakeJoins(moves, run, task);
  if (task.host === JOIN_HOST) {
    unmakeJoin(moves, run, task);
    return;
  }
  const { kind, reason, bytes, bytesSaved } = takeEndingBack(moves, run, task);
  if (kind === 'failed') uncountStepFailure(moves, run.n, task.mark);
  run.bytes -= bytes;
  run.bytesSaved -= bytesSaved;
  run.duplicate -= task.known;
  if (kind === 'failed' && reason !== 'malformed' && !isMember(task)) {
    moves.marks.unfail(moves.ownerOf(run), run.n, task.mark);
    if (optionsOf(run).incremental)
      moves.marks.add(moves.ownerOf(run), task.mark, MARK.taken, {
        source: 0,
        session: sessionOf(run, moves.ownerOf(run)),
      });
  }
  // If the page stayed known without its record, it would not be fetched again.
  moves.database.run('DELETE FROM pages WHERE mark = ?', task.mark);
  moves.database.run('UPDATE tasks SET over = NULL, ending = NULL, known = 0 WHERE id = ?', task.id);
  moves.putBack(run, task);
}

/** Removes a join that is over, as if it was never made: it is made again when everything that it waits for has ended once more. */
function unmakeJoin(moves: Moves, run: RunRow, task: TaskRow): void {
  takeEndingBack(moves, run, task);
  forgetJoin(moves, run, task);
}

/** Takes back what was counted when a task ended. Returns how it had ended. */
function takeEndingBack(moves: Moves, run: RunRow, task: TaskRow): Ending {
  const ending = endingOf(task);
  const { kind, reason } = ending;
  run[kind]--;
  countStep(moves.database, run.n, task, kind, -1);
  if (reason !== undefined) uncountReason(moves.database, run.n, kind, reason);
  if (kind === 'failed') deleteLetterOf(moves, run, task);
  return ending;
}

/** Finds a task that waits, waits for its next attempt, or is in flight: one query for each, since each has its own index. */
const LIVE = ['place', 'dueAt', 'release']
  .map((state) => `SELECT * FROM tasks WHERE run = ?1 AND host = ?2 AND mark = ?3 AND ${state} IS NOT NULL`)
  .join(' UNION ALL ');

/** Removes the joins that wait for a task, and are not over, as if they were never made. */
function unmakeJoins(moves: Moves, run: RunRow, { mark }: TaskRow): void {
  for (const join of moves.groups.joinsOf(run, mark)) {
    const live = moves.database.get<TaskRow & { readonly place: number | null }>(LIVE, run.n, JOIN_HOST, join);
    if (live === undefined) continue;
    if (live.release === null) run.waiting--;
    else moves.land(run);
    if (live.place !== null) moves.runHost(run, JOIN_HOST).waiting--;
    forgetJoin(moves, run, live);
  }
}

function forgetJoin(moves: Moves, run: RunRow, task: TaskRow): void {
  run.discovered--;
  run.joins--;
  countStep(moves.database, run.n, task, 'discovered', -1);
  moves.tasks.remove(task);
}
