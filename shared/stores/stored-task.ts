import { JOIN_HOST } from '../task/group/group.ts';
import { joinTaskOf } from '../task/group/join-task.ts';
import { INITIAL_FIELDS, type TaskPlace, taskOf } from '../task/task/form.ts';
import type { Task } from '../task/task/task.ts';
import { FIRST_STEP, MALFORMED_HOST } from '../task/url/fingerprint.ts';

/** Maximum characters of the message about a form that can't be read. */
const MOST_TOLD = 300;

/**
 * Reads a task that a store kept. With a `problem` it is malformed: either its text isn't a URL, and the reason stands in place of the
 * form, or its form can't be read. It then ends with that problem, and holds up no other task.
 */
export function readStored(place: TaskPlace, form: string): { readonly task: Task; readonly problem?: string } {
  const task =
    place.host === MALFORMED_HOST
      ? undefined
      : place.host === JOIN_HOST
        ? joinTaskOf(form, place)
        : taskOf(form, place);
  if (task !== undefined) return { task };
  const problem =
    place.host === MALFORMED_HOST ? form : `its entry in the frontier can't be read: ${form}`.slice(0, MOST_TOLD);
  return { task: { ...place, url: place.mark.trimStart(), step: FIRST_STEP, ...INITIAL_FIELDS }, problem };
}
