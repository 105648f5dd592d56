import { groupOf, groupOfMark } from './group.ts';

/** A join, as a run's plan has it. Steps go by their keys: the first one is `''`. */
export interface PlannedJoin {
  /** The step whose tasks own a group; left out for a join of the run. */
  readonly per?: string;
  /** The steps and joins whose results it takes. */
  readonly of: readonly string[];
  /** How long after it was made it is worth running, in milliseconds. */
  readonly deadlineMs?: number;
}

/** The groups that a step's tasks own. */
export interface PlannedGroup {
  /** Its joins: those of a layer take results of earlier layers only. */
  readonly layers: readonly (readonly string[])[];
  /** The steps whose results any of them takes. */
  readonly takes: readonly string[];
}

/**
 * The joins of a run. Fixed when it opens: stores and workers follow it, whatever version of the crawler they have.
 * It is part of the run's options, so that it can be read with them.
 */
export interface JoinPlan {
  readonly joins: Readonly<Record<string, PlannedJoin>>;
  /** By the step that owns them. */
  readonly groups: Readonly<Record<string, PlannedGroup>>;
  /** The owner's step of each step that is below one. */
  readonly owners: Readonly<Record<string, string>>;
  /** The joins of the run, in layers. */
  readonly run: readonly (readonly string[])[];
}

/** What of a task says where it belongs. */
type Belonging = { readonly mark: string; readonly step: string };

/** The group that a task's children by a step belong to; nothing if to none. */
export function groupOfChild(plan: JoinPlan | undefined, parent: Belonging, step: string): string | undefined {
  const owner = plan?.owners[step];
  if (plan === undefined || owner === undefined) return undefined;
  if (isMember(parent)) return plan.owners[parent.step] === owner ? groupOfMark(parent.mark) : undefined;
  return parent.step === owner ? groupOf(parent.mark) : undefined;
}

export function isMember({ mark }: Pick<Belonging, 'mark'>): boolean {
  return groupOfMark(mark) !== undefined;
}

/** The plan of the group that a task owns or belongs to; nothing if there is none. */
export function planFor(plan: JoinPlan | undefined, task: Belonging): PlannedGroup | undefined {
  if (plan === undefined) return undefined;
  return plan.groups[isMember(task) ? (plan.owners[task.step] ?? NO_STEP) : task.step];
}

/** No step is named so. */
const NO_STEP = ' ';

/** Does another join of its group take a join? Joins of the run read records. */
export function isTakenInGroup({ joins }: JoinPlan, join: string): boolean {
  return Object.values(joins).some(({ per, of }) => per !== undefined && of.includes(join));
}

/** Does a join take what comes of a task, if that is done? */
export function isTaken(plan: JoinPlan | undefined, task: Belonging): boolean {
  return planFor(plan, task)?.takes.includes(task.step) === true;
}
