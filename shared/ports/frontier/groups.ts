import { groupOfMark, OF_RUN } from '../../task/group/group.ts';
import type { Task } from '../../task/task/task.ts';
import { MALFORMED_HOST } from '../../task/url/fingerprint.ts';
import type { ReleaseName } from './frontier.ts';

/**
 * An optional ability: groups of tasks, and the inputs their joins receive; see `task/group/plan.ts`.
 *
 * A group exists from its owner's first child on. When the last member has ended, the store creates the group's joins as
 * waiting tasks, provided the owner is done and the run isn't cancelled. A member's mark counts only within its group.
 */
export interface Groups {
  /** Returns the inputs of a join that is in flight. `stale`: the ledger doesn't hold this release. */
  inputs(run: string, release: ReleaseName): Promise<GroupInputs | 'stale'>;
  /** Returns the progress of a group; `undefined` if it does not exist, or no longer exists. */
  group(run: string, group: string): Promise<GroupStanding | undefined>;
  /** Returns the owner of such a group, with the redirects it has followed so far. */
  owner(run: string, group: string): Promise<GroupOwner | undefined>;
}

export interface GroupInputs {
  /** The `input` of each settlement, by the task's mark. */
  readonly inputs: Readonly<Record<string, string>>;
  /** The inputs exceeded {@link MAX_GROUP_BYTES}, and the excess was not stored. */
  readonly isTooLarge: boolean;
  /** Number of tasks that did not end as done, by outcome. */
  readonly missing: Readonly<Record<string, number>>;
  /** The first of those tasks, at most {@link MOST_MISSING}. */
  readonly firstMissing: readonly { readonly mark: string; readonly outcome: string; readonly reason: string }[];
}

export interface GroupStanding {
  /** Number of members that have not ended, including the owner. */
  readonly open: number;
  /** Number of joins that were created and have not ended. */
  readonly joins: number;
}

export interface GroupOwner {
  readonly task: Task;
  /** The mark it claimed after redirects. Absent if it claimed none. */
  readonly claimed?: string;
}

/** Returns the owner of the group that a member or a join belongs to; `undefined` for any other task. */
export async function ownerOf(
  { run, mark, host }: Pick<Task, 'run' | 'mark' | 'host'>,
  groups: Pick<Groups, 'owner'>,
): Promise<GroupOwner | undefined> {
  const group = host === MALFORMED_HOST ? undefined : groupOfMark(mark);
  return group === undefined || group === OF_RUN ? undefined : await groups.owner(run, group);
}

/** Maximum total bytes of a group's inputs. */
export const MAX_GROUP_BYTES = 1_048_576;
/** Maximum number of missing inputs that a group lists. */
export const MOST_MISSING = 100;
