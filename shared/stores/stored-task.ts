import { INITIAL_FIELDS, type TaskPlace, taskOf } from '../task/task/form.ts';
import type { Task } from '../task/task/task.ts';
import { FIRST_STEP, MALFORMED_HOST } from '../task/url/fingerprint.ts';

/** Characters of a form that can't be read which are told. */
const MOST_TOLD = 300;

/**
 * The task that a store has kept. With a `problem` it is malformed: a text that is no URL, which has the reason in place of a form,
 * or one whose form can't be read. So it ends and is named, and keeps nothing else back.
 */
export function readStored(place: TaskPlace, form: string): { readonly task: Task; readonly problem?: string } {
  const task = place.host === MALFORMED_HOST ? undefined : taskOf(form, place);
  if (task !== undefined) return { task };
  const problem =
    place.host === MALFORMED_HOST ? form : `its entry in the frontier can't be read: ${form}`.slice(0, MOST_TOLD);
  return { task: { ...place, url: place.mark, step: FIRST_STEP, ...INITIAL_FIELDS }, problem };
}
