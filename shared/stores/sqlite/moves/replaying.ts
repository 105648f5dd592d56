import type { LocalReplay, ReplayedTask, ReplayFate } from '../../../ports/local-letters.ts';
import { MARK, SHARED } from '../database/schema.ts';
import { type GroupEnds, uncountEnds } from './ended-groups.ts';
import type { Moves } from './moves.ts';
import { uncountReason } from './reason-counts.ts';
import { deleteLetter } from './rows/letter-rows.ts';
import { sessionOf } from './rows/mark-table.ts';
import type { RunRow } from './rows/run-rows.ts';
import { newTask } from './rows/task-rows.ts';
import { optionsOf } from './run-options.ts';
import { countStep } from './step-counts.ts';
import { uncountStepFailure } from './step-failures.ts';
import { NO_TROUBLE } from './troubles.ts';

/** Lets failed tasks of a run wait again; see `ports/local-letters.ts`. */
export function replayTasks(moves: Moves, id: string, tasks: readonly ReplayedTask[]): LocalReplay {
  const run = moves.run(id);
  if (run === undefined) return { refused: 'unknown' };
  if (run.state === 'cancelled') return { refused: 'cancelled' };
  const fates = tasks.map((task) =>
    task.offer.replayOf === 'group' ? replayGroup(moves, run, task) : replayTask(moves, run, task),
  );
  if (fates.includes('taken')) {
    // The run's own joins report on the whole run, so they are due again.
    if ((optionsOf(run).joins?.run.length ?? 0) > 0) run.joinsDue = 1;
    if (run.endedAt !== null) {
      // Time in which nobody crawled the run doesn't count.
      run.startedAt += Math.max(0, moves.now - run.endedAt);
      moves.reopen(run);
    }
    moves.database.run('UPDATE crawls SET touchedAt = ? WHERE run = ?', moves.now, run.id);
  }
  return { fates };
}

function replayTask(moves: Moves, run: RunRow, task: ReplayedTask): ReplayFate {
  const { database, marks } = moves;
  const { offer } = task;
  const owner = moves.ownerOf(run);
  if (marks.has(owner, offer.mark, MARK.taken)) {
    const live = marks.liveTask(owner, offer.mark);
    // A task's letter is stored a moment before it counts as failed.
    const inFlight =
      live !== undefined &&
      database.get('SELECT 1 FROM tasks WHERE id = ? AND release IS NOT NULL', live) !== undefined;
    return inFlight ? 'inFlight' : 'known';
  }
  const ends = moves.groups.beginAnew(run, offer.mark);
  if (ends === 'open') return 'inFlight';
  // The owner is counted by its own letter.
  uncount(
    moves,
    run,
    ends.filter(({ isOwner = false }) => !isOwner),
  );
  if (run.failed === 0) discover(moves, run, offer);
  else uncountFailed(moves, run, task);
  takeAgain(moves, run, task);
  deleteLetter(moves.database, run.n, task.id);
  return 'taken';
}

/** Lets an owner wait again, so that its group is crawled once more. Several letters of one group count once. */
function replayGroup(moves: Moves, run: RunRow, task: ReplayedTask): ReplayFate {
  const { marks } = moves;
  const { offer } = task;
  const owner = moves.ownerOf(run);
  const live = marks.liveTask(owner, offer.mark);
  const isOther =
    live !== undefined && moves.database.get('SELECT 1 FROM tasks WHERE id = ? AND run = ?', live, run.n) === undefined;
  const ends = isOther ? 'open' : moves.groups.beginAnew(run, offer.mark);
  if (ends === 'open') return 'inFlight';
  // These pages come again, and `max-pages` has counted them before.
  run.anew -= uncount(moves, run, ends);
  deleteLetter(moves.database, run.n, task.id);
  if (live !== undefined) return 'known';
  const wasTaken = owner === SHARED && marks.has(owner, offer.mark, MARK.taken);
  discover(moves, run, offer);
  run.anew++;
  // So that it keeps its mark if it is cancelled.
  if (wasTaken) marks.takeAgain(offer.mark, run.n);
  takeAgain(moves, run, task);
  return 'taken';
}

/** Makes the waiting task of a replay. */
function takeAgain(moves: Moves, run: RunRow, { offer }: ReplayedTask): void {
  const { database, marks } = moves;
  const { host, mark } = offer;
  const owner = moves.ownerOf(run);
  // The failed task may still be kept, in case of a power cut.
  const before = marks.retake({ owner, run: run.n, mark, task: moves.nextTask, session: sessionOf(run, owner) });
  if (before !== undefined)
    database.run('DELETE FROM tasks WHERE id = ? AND mark = ? AND over IS NOT NULL', before, mark);
  run.waiting++;
  moves.add(run, newTask(offer, moves.now));
  // Otherwise, a host that was in trouble for too long before would be given up at once.
  Object.assign(moves.runHost(run, host), NO_TROUBLE);
}

function discover({ database }: Moves, run: RunRow, offer: ReplayedTask['offer']): void {
  run.discovered++;
  countStep(database, run.n, offer, 'discovered');
}

function uncount({ database }: Moves, run: RunRow, ends: GroupEnds): number {
  const plan = optionsOf(run).joins;
  return plan === undefined ? 0 : uncountEnds(database, run, plan, ends);
}

function uncountFailed(moves: Moves, run: RunRow, { reason, offer }: ReplayedTask): void {
  const { database } = moves;
  run.failed--;
  uncountStepFailure(moves, run.n, offer.mark);
  countStep(database, run.n, offer, 'failed', -1);
  uncountReason(database, run.n, 'failed', reason);
}
