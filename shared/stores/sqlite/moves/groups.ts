import {
  type GroupInputs,
  type GroupOwner,
  type GroupStanding,
  MAX_GROUP_BYTES,
  MOST_MISSING,
} from '../../../ports/frontier/groups.ts';
import { groupOf, groupOfMark, JOIN_HOST, joinMark, OF_RUN } from '../../../task/group/group.ts';
import { ownerMarkOf, ownerTaskOf } from '../../../task/group/join-task.ts';
import { isMember, type JoinPlan, type PlannedGroup, planFor } from '../../../task/group/plan.ts';
import { MALFORMED_HOST, stepOfMark } from '../../../task/url/fingerprint.ts';
import type { LocalDatabase } from '../database/database.ts';
import { endsOf, type GroupEnds, keepEnds, takeEnds } from './ended-groups.ts';
import type { GroupRow } from './rows/group-rows.ts';
import type { RunRow } from './rows/run-rows.ts';
import type { TaskRow } from './rows/task-rows.ts';
import { optionsOf } from './run-options.ts';
import { countStep } from './step-counts.ts';

/** How a member or a join ended. */
export interface GroupEnding {
  readonly kind: string;
  readonly reason?: string | undefined;
  readonly input?: string | undefined;
  /** The mark that its redirects have claimed. */
  readonly claimed?: string | undefined;
}

type Ended = Pick<TaskRow, 'host' | 'mark' | 'form' | 'claimed'>;

type OwnerRow = Pick<TaskRow, 'mark' | 'form' | 'claimed'>;

/** The part of `Moves` that makes joins. */
interface Adding {
  readonly now: number;
  add(run: RunRow, task: Pick<TaskRow, 'host' | 'queue' | 'mark' | 'firstSeen' | 'deadline' | 'form'>): void;
}

interface Forgetting {
  readonly database: LocalDatabase;
  readonly now: number;
}

/** Stands in for a group that doesn't exist: no group has this id, and no marks have this owner. */
const NO_GROUP = -1;

/** Joins see inputs sorted by mark, and missing ones in the order in which they ended. */
const KEEP_INPUT = keepAs('0');
/** An index finds the last of the missing ones: a group may have 100,000. */
export const KEEP_MISSING = keepAs(
  "(SELECT coalesce(max(n), 0) + 1 FROM groupInputs WHERE grp = ?1 AND outcome <> 'done')",
);

function keepAs(n: string): string {
  return `INSERT OR REPLACE INTO groupInputs (grp, mark, n, outcome, reason, input) VALUES (?1, ?2, ${n}, ?3, ?4, ?5)`;
}

/** The groups of tasks, and the joins made when a group's last member has ended: see `stores/redis/lua/shared/groups.lua`. */
export class GroupTable {
  readonly #moves: Adding;
  readonly #database: LocalDatabase;

  constructor(moves: Adding, database: LocalDatabase) {
    this.#moves = moves;
    this.#database = database;
  }

  find(run: Pick<RunRow, 'n'>, grp: string): GroupRow | undefined {
    return this.#database.get<GroupRow>('SELECT * FROM groups WHERE run = ? AND grp = ?', run.n, grp);
  }

  /** Returns the owner of a group's marks in the table of marks. */
  marksOf(run: Pick<RunRow, 'n'>, grp: string): number {
    const group = this.find(run, grp);
    return group === undefined ? NO_GROUP : marksOf(group);
  }

  /** Returns the group of a member that is offered. It begins with its owner's first child. */
  join(run: RunRow, grp: string, owner: OwnerRow): GroupRow {
    const found = this.find(run, grp);
    return found ?? this.#begin(run, grp, owner);
  }

  /**
   * Removes the group of an owner that is crawled once more. Returns `open` if the group hasn't ended, and so stays; else what the run
   * has counted of it, which the caller takes back.
   */
  beginAnew(run: RunRow, ownerMark: string): GroupEnds | 'open' {
    const plan = optionsOf(run).joins;
    if (plan?.groups[stepOfMark(ownerMark)] === undefined) return [];
    const grp = groupOf(ownerMark);
    const group = this.find(run, grp);
    if (group !== undefined && group.over === null) return 'open';
    const kept = takeEnds(this.#database, run, grp);
    const ends =
      group === undefined
        ? kept
        : endsOf({ database: this.#database, now: this.#moves.now }, plan, group, marksOf(group));
    if (group !== undefined) dropGroup(this.#database, group.id);
    // Tasks that are kept in case of a power cut go too: they are crawled again in any case.
    this.#database.run(
      "DELETE FROM tasks WHERE run = ? AND over IS NOT NULL AND (mark = ? OR mark LIKE '% @' || ?)",
      ...[run.n, ownerMark, grp],
    );
    return ends;
  }

  count(group: Pick<GroupRow, 'id'>, members: number): void {
    this.#database.run('UPDATE groups SET open = open + ? WHERE id = ?', members, group.id);
  }

  /** Called once for each task that ends, whatever its outcome. */
  ended(run: RunRow, task: Ended, ending: GroupEnding): void {
    const plan = optionsOf(run).joins;
    if (plan === undefined || task.host === MALFORMED_HOST) return;
    if (task.host === JOIN_HOST) {
      this.#joinEnded(run, plan, task.mark, ending);
      return;
    }
    const belonging = { mark: task.mark, step: stepOfMark(task.mark) };
    const planned = planFor(plan, belonging);
    if (planned === undefined) return;
    const isOwner = !isMember(task);
    const grp = isOwner ? groupOf(task.mark) : (groupOfMark(task.mark) ?? '');
    let group = this.find(run, grp);
    if (group === undefined) {
      // An owner without children.
      if (!isOwner || ending.kind !== 'done' || run.state === 'cancelled') return;
      group = this.#begin(run, grp, task);
    }
    if (isOwner) {
      group.ended = ending.kind;
      group.owner = textOf(task);
      group.claimed = ending.claimed ?? null;
    }
    const isTaken = planned.takes.includes(belonging.step);
    this.#keep(group, task.mark, isTaken ? ending : { ...ending, input: undefined });
    group.open--;
    this.#write(group);
    if (group.open === 0) this.#goOn(run, plan, planned, group);
  }

  /** Makes the run's joins that are due, once nothing waits or is in flight. Returns whether there were any. */
  makeRunJoins(run: RunRow): boolean {
    const plan = optionsOf(run).joins;
    if (plan === undefined || plan.run.length === 0) return false;
    const next = run.joinsDue === 1 ? 1 : run.joinsLayer + 1;
    const names = plan.run[next - 1];
    if (names === undefined || (run.joinsDue === 0 && run.joinsLayer === 0)) return false;
    run.joinsDue = 0;
    run.joinsLayer = next;
    this.#make(run, plan, names, OF_RUN, '');
    return true;
  }

  inputs(run: RunRow, mark: string): GroupInputs {
    const group = this.find(run, groupOfMark(mark) ?? '');
    const rows = this.#database.all<{ mark: string; outcome: string; reason: string; input: string | null }>(
      'SELECT mark, outcome, reason, input FROM groupInputs WHERE grp = ? ORDER BY n',
      group?.id ?? NO_GROUP,
    );
    const lost = rows.filter(({ outcome }) => outcome !== 'done');
    const missing: Record<string, number> = {};
    for (const { outcome } of lost) missing[outcome] = (missing[outcome] ?? 0) + 1;
    const taken = rows.filter(({ outcome, input }) => outcome === 'done' && input !== null);
    return {
      inputs: Object.fromEntries(taken.map(({ mark: of, input }) => [of, input ?? ''])),
      isTooLarge: group?.large === 1,
      missing,
      firstMissing: lost.slice(0, MOST_MISSING).map(({ mark: of, outcome, reason }) => ({ mark: of, outcome, reason })),
    };
  }

  standing(run: RunRow, grp: string): GroupStanding | undefined {
    const group = this.find(run, grp);
    if (group === undefined || group.over !== null) return undefined;
    return { open: group.open, joins: group.left };
  }

  owner(run: RunRow, grp: string): GroupOwner | undefined {
    const group = this.find(run, grp);
    if (group === undefined || group.over !== null) return undefined;
    const task = ownerTaskOf(group.owner, { run: run.id, queue: 'normal' });
    return task === undefined ? undefined : { task, ...(group.claimed === null ? {} : { claimed: group.claimed }) };
  }

  /**
   * Reopens the group of a task that is taken back, and so will end once more. The group's joins count as never made.
   */
  takenBack(run: RunRow, { mark, host }: Pick<TaskRow, 'mark' | 'host'>): void {
    const plan = optionsOf(run).joins;
    if (plan === undefined) return;
    if (plan.run.length > 0) run.joinsDue = 1;
    const isJoin = host === JOIN_HOST;
    const isOwner = !isJoin && !isMember({ mark });
    if (isOwner && plan.groups[stepOfMark(mark)] === undefined) return;
    const group = this.find(run, isOwner ? groupOf(mark) : (groupOfMark(mark) ?? ''));
    if (group === undefined) return;
    if (group.over !== null) {
      group.over = null;
      run.openGroups++;
    }
    if (!isJoin) group.open++;
    if (isOwner) group.ended = null;
    group.layer = 0;
    group.left = 0;
    this.#write(group);
    this.#database.run('DELETE FROM groupInputs WHERE grp = ? AND mark = ?', group.id, mark);
  }

  /** Makes the joins of groups whose members have all ended. Called once all tasks have been taken back. */
  makeTakenBack(run: RunRow): void {
    const plan = optionsOf(run).joins;
    if (plan === undefined) return;
    const ended = this.#database.all<GroupRow>(
      'SELECT * FROM groups WHERE run = ? AND open = 0 AND layer = 0 AND over IS NULL',
      run.n,
    );
    for (const group of ended) {
      const planned = plan.groups[stepOfMark(ownerMarkOf(group.owner))];
      if (planned !== undefined) this.#goOn(run, plan, planned, { ...group });
    }
  }

  /** Returns the marks of the joins that wait for a task: those of its group, and of the run. */
  joinsOf(run: RunRow, mark: string): string[] {
    const plan = optionsOf(run).joins;
    const grp = groupOfMark(mark) ?? groupOf(mark);
    return Object.entries(plan?.joins ?? {}).map(([name, { per }]) => joinMark(name, per === undefined ? OF_RUN : grp));
  }

  #begin(run: RunRow, grp: string, owner: OwnerRow): GroupRow {
    this.#database.run(
      'INSERT INTO groups (run, grp, owner, claimed) VALUES (?, ?, ?, ?)',
      ...[run.n, grp, textOf(owner), owner.claimed],
    );
    run.openGroups++;
    const group = this.find(run, grp);
    if (group === undefined) throw new Error(`group ${grp} was not begun`);
    return { ...group };
  }

  #joinEnded(run: RunRow, plan: JoinPlan, mark: string, ending: GroupEnding): void {
    const grp = groupOfMark(mark) ?? OF_RUN;
    const planned = plan.groups[plan.joins[stepOfMark(mark)]?.per ?? OF_RUN];
    const found = grp === OF_RUN ? undefined : this.find(run, grp);
    if (found === undefined || planned === undefined) return;
    const group = { ...found };
    this.#keep(group, mark, ending);
    group.left--;
    this.#write(group);
    if (group.left === 0) this.#goOn(run, plan, planned, group);
  }

  /** The last member, or the last join of a layer, has ended: makes the next layer of joins, or drops the group. */
  #goOn(run: RunRow, plan: JoinPlan, planned: PlannedGroup, group: GroupRow): void {
    const names = planned.layers[group.layer];
    if (group.ended !== 'done' || names === undefined || run.state === 'cancelled') {
      this.#drop(run, group);
      return;
    }
    group.layer++;
    group.left = names.length;
    this.#write(group);
    this.#make(run, plan, names, group.grp, group.owner);
  }

  #make(run: RunRow, plan: JoinPlan, names: readonly string[], grp: string, owner: string): void {
    const { now } = this.#moves;
    for (const name of names) {
      const { deadlineMs } = plan.joins[name] ?? {};
      const deadline = deadlineMs === undefined ? 0 : now + deadlineMs;
      const mark = joinMark(name, grp);
      this.#moves.add(run, { host: JOIN_HOST, queue: 1, mark, firstSeen: now, deadline, form: owner });
      countStep(this.#database, run.n, { host: JOIN_HOST, mark }, 'discovered');
    }
    run.discovered += names.length;
    run.waiting += names.length;
    run.joins += names.length;
  }

  #keep(group: GroupRow, mark: string, { kind, reason = '-', input }: GroupEnding): void {
    if (kind === 'done' && input === undefined) return;
    if (kind === 'done') {
      const bytes = group.bytes + Buffer.byteLength(input ?? '');
      if (group.large === 1 || bytes > MAX_GROUP_BYTES) {
        group.large = 1;
        return;
      }
      group.bytes = bytes;
    }
    const keep = kind === 'done' ? KEEP_INPUT : KEEP_MISSING;
    this.#database.run(keep, ...[group.id, mark, kind, reason, input ?? null]);
  }

  /** Drops a group. A run on the disk keeps it until its records are on the disk too, since its members may be taken back until then. */
  #drop(run: RunRow, group: GroupRow): void {
    run.openGroups--;
    if (run.generation === null) dropGroup(this.#database, group.id);
    else this.#database.run('UPDATE groups SET over = ? WHERE id = ?', run.generation, group.id);
  }

  #write({ id, owner, claimed, open, ended, layer, left, bytes, large, over }: GroupRow): void {
    this.#database.run(
      'UPDATE groups SET owner = ?, claimed = ?, open = ?, ended = ?, layer = ?, "left" = ?, bytes = ?, large = ?, over = ? WHERE id = ?',
      ...[owner, claimed, open, ended, layer, left, bytes, large, over, id],
    );
  }
}

/** Deletes groups whose records are on the disk. Returns whether there may be more. */
export function forgetGroups({ database, now }: Forgetting, run: RunRow, before: number, most: number): boolean {
  const plan = optionsOf(run).joins;
  if (plan === undefined) return false;
  const over = database.all<GroupRow>(
    'SELECT * FROM groups WHERE run = ? AND over < ? LIMIT ?',
    ...[run.n, before, most],
  );
  for (const group of over) {
    keepEnds(database, group, () => endsOf({ database, now }, plan, group, marksOf(group)), now);
    dropGroup(database, group.id);
  }
  return over.length === most;
}

export function dropGroup(database: LocalDatabase, id: number): void {
  database.run('DELETE FROM marks WHERE owner = ?', marksOf({ id }));
  database.run('DELETE FROM groupInputs WHERE grp = ?', id);
  database.run('DELETE FROM groups WHERE id = ?', id);
}

/** Returns the owner of a group's marks: a number below those of all runs, and below `NO_GROUP`. */
function marksOf({ id }: Pick<GroupRow, 'id'>): number {
  return NO_GROUP - id;
}

function textOf({ mark, form }: Pick<TaskRow, 'mark' | 'form'>): string {
  return `${mark}\t${form}`;
}
