import { groupOf, groupOfMark } from './group.ts';

/** A join in a run's plan. Steps are named by their keys: the first step is `''`. */
export interface PlannedJoin {
  /** The step whose tasks own the group; left out for a join of the run. */
  readonly per?: string;
  /** The steps and joins whose results it takes. */
  readonly of: readonly string[];
  /** Milliseconds after its creation during which the join is worth running, a whole number. */
  readonly deadlineMs?: number;
}

/** The plan of the groups that one step's tasks own. */
export interface PlannedGroup {
  /** Its joins in layers. The joins of a layer only take results of earlier layers. */
  readonly layers: readonly (readonly string[])[];
  /** The steps whose results any of its joins takes. */
  readonly takes: readonly string[];
}

/**
 * The joins of a run. The plan is fixed when the run opens: stores and workers follow it, whatever version of the crawler they have.
 * It is kept in the run's options and read with them.
 */
export interface JoinPlan {
  readonly joins: Readonly<Record<string, PlannedJoin>>;
  /** Groups by the step whose tasks own them. */
  readonly groups: Readonly<Record<string, PlannedGroup>>;
  /** For each step whose tasks belong to groups, the step of their owner. */
  readonly owners: Readonly<Record<string, string>>;
  /** The joins of the run, in layers. */
  readonly run: readonly (readonly string[])[];
}

/** The parts of a task that tell its group. */
type Belonging = { readonly mark: string; readonly step: string };

/** Returns the group of a task's children for a step; nothing if they belong to none. */
export function groupOfChild(plan: JoinPlan | undefined, parent: Belonging, step: string): string | undefined {
  const owner = plan?.owners[step];
  if (plan === undefined || owner === undefined) return undefined;
  if (isMember(parent)) return plan.owners[parent.step] === owner ? groupOfMark(parent.mark) : undefined;
  return parent.step === owner ? groupOf(parent.mark) : undefined;
}

export function isMember({ mark }: Pick<Belonging, 'mark'>): boolean {
  return groupOfMark(mark) !== undefined;
}

/** Returns the plan of the group that a task owns or belongs to; nothing if there is none. */
export function planFor(plan: JoinPlan | undefined, task: Belonging): PlannedGroup | undefined {
  if (plan === undefined) return undefined;
  return plan.groups[isMember(task) ? (plan.owners[task.step] ?? NO_STEP) : task.step];
}

/** A name that no step can have. */
const NO_STEP = ' ';

/** Does another join of its group take the results of this join? Joins of the run don't count, since they read records. */
export function isTakenInGroup({ joins }: JoinPlan, join: string): boolean {
  return Object.values(joins).some(({ per, of }) => per !== undefined && of.includes(join));
}

/** Does any join of its group take the results of this task once it is done? */
export function isTaken(plan: JoinPlan | undefined, task: Belonging): boolean {
  return planFor(plan, task)?.takes.includes(task.step) === true;
}
