import { formOf, INITIAL_FIELDS, type TaskPlace, taskOf } from '../task/form.ts';
import type { Task } from '../task/task.ts';
import { hostOfMark, stepOfMark } from '../url/fingerprint.ts';
import { groupOfMark, JOIN_HOST, OF_RUN } from './group.ts';

/*
 * How a store keeps a group's owner, and each of its joins: the owner's mark, a tab, and its form. A join of the run has an empty
 * text in its place. Stores make joins themselves, when the last task ends that they wait for: so they need no more than this.
 */

/** What a store keeps of a group's owner. */
export function ownerText(owner: Pick<Task, 'mark'> & Omit<Task, 'run'>): string {
  return `${owner.mark}\t${formOf(owner)}`;
}

/** The owner's mark in {@link ownerText}. */
export function ownerMarkOf(text: string): string {
  return text.slice(0, text.indexOf('\t'));
}

/** The owner in {@link ownerText}; nothing if it can't be read. Which queue it was in isn't kept. */
export function ownerTaskOf(text: string, { run, queue }: Pick<TaskPlace, 'run' | 'queue'>): Task | undefined {
  const at = text.indexOf('\t');
  const mark = text.slice(0, at);
  return at < 0 ? undefined : taskOf(text.slice(at + 1), { run, host: hostOfMark(mark), queue, mark });
}

/** Reads a waiting join; nothing if it can't be read. */
export function joinTaskOf(form: string, { run, queue, mark }: Omit<TaskPlace, 'host'>): Task | undefined {
  const place = { run, host: JOIN_HOST, queue, mark, step: stepOfMark(mark) };
  const group = groupOfMark(mark) ?? OF_RUN;
  if (form === '') return { ...place, url: '', ...INITIAL_FIELDS, join: { group } };
  const owner = ownerTaskOf(form, { run, queue });
  if (owner === undefined) return undefined;
  const { redirects: _, ...fields } = owner;
  return { ...fields, ...place, join: { group, per: owner.step, owner: owner.mark } };
}
