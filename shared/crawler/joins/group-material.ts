import type { GroupInputs } from '../../ports/frontier/groups.ts';
import { RecordRefusedError } from '../../ports/sink.ts';
import { messageOf } from '../../runtime/errors.ts';
import type { PlannedJoin } from '../../task/group/plan.ts';
import type { Task } from '../../task/task/task.ts';
import { keyOfMark, stepOfMark } from '../../task/url/fingerprint.ts';
import type { Crawler } from '../crawler.ts';
import { itemsIn, type RecordItems } from '../items/record-items.ts';
import type { GroupMaterial } from './join-run.ts';
import type { JoinInput, MissingInput } from './joins.ts';

/** An input as it is stored, without its step, which follows from its mark. */
type KeptInput = Omit<JoinInput, 'step'>;

/** Why a join fails if its group has more than {@link MAX_GROUP_BYTES} of inputs. */
export const TOO_LARGE =
  'the inputs of its group take more than 1 MiB together: emit less, or set apart: true in a step that emits a lot';

/** Returns a task's input for joins as JSON, or an error if it can't be written as JSON. */
export function writeInput(
  { url, kept = {} }: Pick<Task, 'url' | 'kept'>,
  extract: RecordItems,
): string | RecordRefusedError {
  const input: KeptInput = { url, kept, records: itemsIn(extract) };
  try {
    return JSON.stringify(input);
  } catch (error: unknown) {
    const reason = error instanceof RangeError ? 'too_large' : 'schema';
    const message = `its input for joins can't be written as JSON: ${messageOf(error)}`;
    return new RecordRefusedError(message, { reason, cause: error });
  }
}

/** Returns what a join is called with. Its inputs are sorted by step, in the order of `of`, then by URL, so the order of answers doesn't matter. */
export function groupMaterial(
  { url, kept = {}, join }: Task,
  { inputs, missing, firstMissing }: GroupInputs,
  { of }: PlannedJoin,
  crawler: Crawler,
): GroupMaterial {
  const taken = Object.entries(inputs)
    .map(([mark, text]) => ({ mark, at: of.indexOf(stepOfMark(mark)), text }))
    .filter(({ at }) => at >= 0)
    .map(({ mark, at, text }) => ({ at, mark, input: JSON.parse(text) as KeptInput }))
    .sort((a, b) => a.at - b.at || compare(a.input.url, b.input.url) || compare(a.mark, b.mark));
  return {
    owner: { url, kept },
    per: join?.per,
    inputs: taken.map(({ mark, input }) => ({ step: stepNameOf(mark, crawler), ...input })),
    missing: {
      count: Object.values(missing).reduce((sum, count) => sum + count, 0),
      outcomes: missing,
      first: firstMissing.map((each) => missingInput(each, url, crawler)),
    },
  };
}

/** Returns a member that didn't end as `done`, as joins see it. @param ownerUrl the URL of the group's owner */
export function missingInput(
  { mark, outcome, reason }: GroupInputs['firstMissing'][number],
  ownerUrl: string,
  crawler: Crawler,
): MissingInput {
  const key = keyOfMark(mark);
  const at = { step: stepNameOf(mark, crawler), url: key.startsWith('@') ? ownerUrl : key, outcome };
  return reason === '' || reason === '-' ? at : { ...at, reason };
}

function stepNameOf(mark: string, crawler: Crawler): string {
  const key = stepOfMark(mark);
  return crawler.step(key)?.name ?? key;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
