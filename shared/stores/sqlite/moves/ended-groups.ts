import { LETTER_TTL_MS } from '../../../ports/dead-letter.ts';
import { groupOfMark, joinMark } from '../../../task/group/group.ts';
import { ownerMarkOf } from '../../../task/group/join-task.ts';
import type { JoinPlan } from '../../../task/group/plan.ts';
import { stepOfMark } from '../../../task/url/fingerprint.ts';
import type { LocalDatabase } from '../database/database.ts';
import type { Noting } from './attempt-notes.ts';
import { uncountReason } from './reason-counts.ts';
import type { GroupRow } from './rows/group-rows.ts';
import type { RunRow } from './rows/run-rows.ts';
import { countStep } from './step-counts.ts';
import { placeOfFailure, uncountPlace } from './step-failures.ts';

/**
 * What a run has counted of the tasks of a group that has ended. It is kept as long as the group has letters: a replay crawls the group
 * once more, and its tasks must count only once.
 */
export type GroupEnds = readonly {
  readonly step: string;
  readonly kind: 'done' | 'skipped' | 'failed';
  /** `-` for none. */
  readonly reason: string;
  readonly count: number;
  readonly isOwner?: true;
  /** The place in the crawler where a step or a join failed. */
  readonly place?: string;
}[];

/** Returns how the tasks of a group have ended. @param marks the owner of the group's marks in the table of marks */
export function endsOf(moves: Noting, plan: JoinPlan, group: GroupRow, marks: number): GroupEnds {
  const { database } = moves;
  const owner = ownerMarkOf(group.owner);
  const notDone = database.all<{ mark: string; kind: GroupEnds[number]['kind']; reason: string }>(
    "SELECT mark, outcome AS kind, reason FROM groupInputs WHERE grp = ? AND outcome IN ('skipped', 'failed')",
    group.id,
  );
  const members = database.all<{ step: string; count: number }>(
    "SELECT substr(mark, 1, instr(mark, ' ') - 1) AS step, count(*) AS count FROM marks WHERE owner = ? AND task IS NOT NULL GROUP BY step",
    marks,
  );
  const made = plan.groups[stepOfMark(owner)]?.layers.slice(0, group.layer).flat() ?? [];
  const all = [...members, ...made.map((step) => ({ step, count: 1 }))];
  const lost = notDone.map(({ mark, kind, reason }) => {
    const place = kind === 'failed' ? placeOfFailure(moves, mark) : undefined;
    return {
      ...{ step: stepOfMark(mark), kind, reason, count: 1 },
      ...(groupOfMark(mark) === undefined ? { isOwner: true as const } : {}),
      ...(place === undefined ? {} : { place }),
    };
  });
  const done = all.map(({ step, count }) => {
    const others = lost.filter((each) => each.step === step && each.isOwner === undefined).length;
    return { step, kind: 'done' as const, reason: '-', count: count - others };
  });
  const own = { step: stepOfMark(owner), kind: 'done' as const, reason: '-', count: 1, isOwner: true as const };
  return [...lost, ...done.filter(({ count }) => count > 0), ...(group.ended === 'done' ? [own] : [])];
}

/** Keeps the counts of a group that is being deleted, if it has letters. */
export function keepEnds(database: LocalDatabase, group: GroupRow, ends: () => GroupEnds, now: number): void {
  if (database.get("SELECT 1 FROM groupInputs WHERE grp = ? AND outcome = 'failed' LIMIT 1", group.id) === undefined)
    return;
  database.run(
    'INSERT OR REPLACE INTO endedGroups (run, grp, at, ends) VALUES (?, ?, ?, ?)',
    ...[group.run, group.grp, now, JSON.stringify(ends())],
  );
}

/** Removes and returns the counts kept of a group; none if it had no letters. */
export function takeEnds(database: LocalDatabase, run: Pick<RunRow, 'n'>, grp: string): GroupEnds {
  const row = database.get<{ ends: string }>('SELECT ends FROM endedGroups WHERE run = ? AND grp = ?', run.n, grp);
  database.run('DELETE FROM endedGroups WHERE run = ? AND grp = ?', run.n, grp);
  return row === undefined ? [] : (JSON.parse(row.ends) as GroupEnds);
}

/** Takes back what a run has counted of a group. Returns how many of its tasks were not joins. */
export function uncountEnds(database: LocalDatabase, run: RunRow, { joins }: JoinPlan, ends: GroupEnds): number {
  let pages = 0;
  for (const { step, kind, reason, count, place } of ends) {
    uncountPlace(database, run.n, place);
    run[kind] -= count;
    run.discovered -= count;
    if (joins[step] === undefined) pages += count;
    else run.joins -= count;
    const counted = { host: '', mark: joinMark(step) };
    countStep(database, run.n, counted, kind, -count);
    countStep(database, run.n, counted, 'discovered', -count);
    if (reason !== '-') uncountReason(database, run.n, kind, reason, count);
  }
  return pages;
}

/** Deletes the counts of groups whose letters have expired. */
export function forgetEnds(database: LocalDatabase, now: number): void {
  database.run('DELETE FROM endedGroups WHERE at <= ?', now - LETTER_TTL_MS);
}
