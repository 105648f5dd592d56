import { formOf, INITIAL_FIELDS, type TaskPlace, taskOf } from '../task/form.ts';
import type { Task } from '../task/task.ts';
import { hostOfMark, stepOfMark } from '../url/fingerprint.ts';
import { groupOfMark, JOIN_HOST, OF_RUN } from './group.ts';

/*
 * How a store keeps a group's owner and each of its joins: as the owner's mark, a tab, and the owner's form. For a join of the run,
 * the text is empty. Stores create joins themselves when the last task they wait for ends, so this text must hold all they need.
 */

/** Writes a group's owner as the text that a store keeps. */
export function ownerText(owner: Pick<Task, 'mark'> & Omit<Task, 'run'>): string {
  return `${owner.mark}\t${formOf(owner)}`;
}

/** Returns the owner's mark from an {@link ownerText}. */
export function ownerMarkOf(text: string): string {
  return text.slice(0, text.indexOf('\t'));
}

/** Reads the owner from an {@link ownerText}; nothing if it can't be read. The text doesn't include the owner's queue. */
export function ownerTaskOf(text: string, { run, queue }: Pick<TaskPlace, 'run' | 'queue'>): Task | undefined {
  const at = text.indexOf('\t');
  const mark = text.slice(0, at);
  return at < 0 ? undefined : taskOf(text.slice(at + 1), { run, host: hostOfMark(mark), queue, mark });
}

/** Reads a waiting join from its {@link ownerText}; nothing if it can't be read. */
export function joinTaskOf(form: string, { run, queue, mark }: Omit<TaskPlace, 'host'>): Task | undefined {
  const place = { run, host: JOIN_HOST, queue, mark, step: stepOfMark(mark) };
  const group = groupOfMark(mark) ?? OF_RUN;
  if (form === '') return { ...place, url: '', ...INITIAL_FIELDS, join: { group } };
  const owner = ownerTaskOf(form, { run, queue });
  if (owner === undefined) return undefined;
  // The redirects, and the cookies that they set, have led the owner to its page: nothing is asked for here.
  const { redirects: _, cookies: __, ...fields } = owner;
  return { ...fields, ...place, join: { group, per: owner.step, owner: owner.mark } };
}
