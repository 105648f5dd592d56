import { groupOf } from '../../../../shared/task/group/group.ts';
import type { JoinPlan } from '../../../../shared/task/group/plan.ts';

export type Ending = 'done' | 'skipped' | 'failed' | 'cancelled';

/** A task of the model. */
export interface GroupTask {
  readonly mark: string;
  readonly step: string;
  /** The group of which it is a member or a join. */
  readonly group: string | undefined;
  readonly isJoin: boolean;
  where: 'waiting' | 'flight' | Ending;
  release: number;
  leaseEnd: number;
  starts: number;
  tally: { readonly stamp: string; readonly links: number } | undefined;
  claimed: string | undefined;
  input: string | undefined;
  /** Its number in the order in which tasks ended; 0 while it is live. */
  endedAs: number;
}

/** A group of the model, with its owner, members and joins. */
export interface ModelGroup {
  readonly owner: GroupTask;
  readonly members: Set<GroupTask>;
  readonly marks: Set<string>;
  /** The joins created so far, by layer. */
  readonly layers: GroupTask[][];
  isOver: boolean;
}

/** The rules of groups and joins in their simplest form. */
export class GroupModel {
  readonly plan: JoinPlan;
  readonly tasks: GroupTask[] = [];
  readonly groups = new Map<string, ModelGroup>();
  readonly marks = new Set<string>();
  state: 'running' | 'cancelled' | 'finished' = 'running';
  isSealed = false;
  isDue = false;
  runLayer = 0;
  now: number;
  #ends = 0;

  constructor(plan: JoinPlan, now: number) {
    this.plan = plan;
    this.now = now;
  }

  add(mark: string, step: string, group?: string, isJoin = false): GroupTask {
    const task: GroupTask = {
      ...{ mark, step, group, isJoin, where: 'waiting', release: 0, leaseEnd: 0, starts: 0, tally: undefined },
      ...{ claimed: undefined, input: undefined, endedAs: 0 },
    };
    this.tasks.push(task);
    if (!isJoin) this.isDue = this.plan.run.length > 0;
    return task;
  }

  count(where: GroupTask['where']): number {
    return this.tasks.filter((task) => task.where === where).length;
  }

  flight(mark: string, release: number): GroupTask | undefined {
    return this.tasks.find((task) => task.where === 'flight' && task.mark === mark && task.release === release);
  }

  /** Adds an accepted child to its group, which its parent opens if necessary. */
  joinGroup(parent: GroupTask, child: GroupTask): void {
    const id = child.group ?? '';
    const group = this.groups.get(id) ?? this.#begin(id, parent);
    group.members.add(child);
    group.marks.add(child.mark);
  }

  isKnown(mark: string, group: string | undefined): boolean {
    return group === undefined ? this.marks.has(mark) : this.groups.get(group)?.marks.has(mark) === true;
  }

  isOpen(group: ModelGroup): boolean {
    return !group.isOver;
  }

  openMembers(group: ModelGroup): number {
    return [...group.members].filter(({ where }) => where === 'waiting' || where === 'flight').length;
  }

  putBack(task: GroupTask): void {
    if (this.state === 'cancelled') this.end(task, 'cancelled');
    else task.where = 'waiting';
  }

  end(task: GroupTask, as: Ending, input?: string): void {
    task.where = as;
    task.input = input;
    task.endedAs = ++this.#ends;
    if ((as === 'failed' || as === 'cancelled') && task.claimed !== undefined && task.group !== undefined)
      this.groups.get(task.group)?.marks.delete(task.claimed);
    if (as === 'cancelled' && task.group === undefined) this.marks.delete(task.mark);
    this.#afterEnd(task);
  }

  /** Creates the next joins of the run, or ends it, if nothing else is left. */
  finishIfDone(): void {
    if (this.state !== 'running' || !this.isSealed || this.count('waiting') + this.count('flight') > 0) return;
    const layer = this.isDue ? 0 : this.runLayer;
    const names = this.plan.run[layer];
    if (names === undefined || (!this.isDue && this.runLayer === 0)) {
      this.state = 'finished';
      return;
    }
    this.isDue = false;
    this.runLayer = layer + 1;
    for (const name of names) this.add(`${name} @run`, name, 'run', true);
  }

  /** Returns what a join of the group must get: inputs of done tasks whose steps a join takes, and counts of the others. */
  inputsOf(id: string): { readonly inputs: Record<string, string>; readonly missing: Record<string, number> } {
    const group = this.groups.get(id);
    const all = [...(group?.members ?? []), ...(group?.layers.flat() ?? [])].filter(({ endedAs }) => endedAs > 0);
    const takes = this.#plannedOf(group)?.takes ?? [];
    const inputs: Record<string, string> = {};
    const missing: Record<string, number> = {};
    for (const { where, mark, step, isJoin, input } of all) {
      if (where !== 'done') missing[where] = (missing[where] ?? 0) + 1;
      else if (input !== undefined && (isJoin || takes.includes(step))) inputs[mark] = input;
    }
    return { inputs, missing };
  }

  #plannedOf(group: ModelGroup | undefined) {
    return group === undefined ? undefined : this.plan.groups[group.owner.step];
  }

  #begin(id: string, owner: GroupTask): ModelGroup {
    const group: ModelGroup = { owner, members: new Set([owner]), marks: new Set(), layers: [], isOver: false };
    this.groups.set(id, group);
    return group;
  }

  #afterEnd(task: GroupTask): void {
    if (task.isJoin && task.group === 'run') return;
    const isOwner = task.group === undefined && this.plan.groups[task.step] !== undefined;
    const id = isOwner ? groupOf(task.mark) : task.group;
    if (id === undefined) return;
    let group = this.groups.get(id);
    if (group === undefined) {
      if (!isOwner || task.where !== 'done' || this.state === 'cancelled') return;
      group = this.#begin(id, task);
    }
    const isLive = ({ where }: GroupTask): boolean => where === 'waiting' || where === 'flight';
    if ([...group.members, ...group.layers.flat()].some(isLive)) return;
    const names = this.#plannedOf(group)?.layers[group.layers.length];
    if (group.owner.where !== 'done' || names === undefined || this.state === 'cancelled') {
      group.isOver = true;
      return;
    }
    group.layers.push(names.map((name) => this.add(`${name} @${id}`, name, id, true)));
  }
}
