import { groupOfMark, OF_RUN } from '../../task/group/group.ts';
import type { Task } from '../../task/task/task.ts';
import { MALFORMED_HOST } from '../../task/url/fingerprint.ts';
import type { ReleaseName } from './frontier.ts';

/**
 * An optional ability: groups of tasks, and what joins get of them; see `task/group/plan.ts`.
 *
 * A group is counted from its owner's first child on. When the last of its members has ended, the store makes its joins as
 * tasks that wait, if the owner is done and the run isn't cancelled. Members' marks count inside the group alone.
 */
export interface Groups {
  /** What a join that is in flight gets of its group. `stale`: the ledger doesn't hold this release. */
  inputs(run: string, release: ReleaseName): Promise<GroupInputs | 'stale'>;
  /** Where the group of an owner is; nothing if it has none, or none any more. */
  group(run: string, group: string): Promise<GroupStanding | undefined>;
  /** The owner of such a group, as far as its redirects have led it. */
  owner(run: string, group: string): Promise<GroupOwner | undefined>;
}

export interface GroupInputs {
  /** As the `input` of settlements had them, by the marks of their tasks. */
  readonly inputs: Readonly<Record<string, string>>;
  /** More came than a group may hold ({@link MAX_GROUP_BYTES}), and was not stored. */
  readonly isTooLarge: boolean;
  /** How many did not end as done, by outcome. */
  readonly missing: Readonly<Record<string, number>>;
  /** The first of those, at most {@link MOST_MISSING}. */
  readonly firstMissing: readonly { readonly mark: string; readonly outcome: string; readonly reason: string }[];
}

export interface GroupStanding {
  /** Members that have not ended, the owner among them. */
  readonly open: number;
  /** Joins that were made, and have not ended. */
  readonly joins: number;
}

export interface GroupOwner {
  readonly task: Task;
  /** The mark that its redirects have claimed; left out if it claimed none. */
  readonly claimed?: string;
}

/** The owner of the group that a task is a member or a join of; nothing for any other task. */
export async function ownerOf(
  { run, mark, host }: Pick<Task, 'run' | 'mark' | 'host'>,
  groups: Pick<Groups, 'owner'>,
): Promise<GroupOwner | undefined> {
  const group = host === MALFORMED_HOST ? undefined : groupOfMark(mark);
  return group === undefined || group === OF_RUN ? undefined : await groups.owner(run, group);
}

/** What a group's inputs may take together. */
export const MAX_GROUP_BYTES = 1_048_576;
/** Missing inputs that a group names. */
export const MOST_MISSING = 100;
