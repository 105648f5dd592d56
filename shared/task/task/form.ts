import { z } from 'zod';
import { FIRST_STEP, keyOfMark, MALFORMED_HOST, stepOfMark } from '../url/fingerprint.ts';
import { keyWithLogin, loginFor } from '../url/logins.ts';
import { canonicalOf } from '../url/url.ts';
import { type FieldsOfRecord, type FieldsOfTask, TASK_FIELDS, type TaskField, textSchema } from './fields.ts';
import { QUEUES, type Queue } from './routing.ts';
import { RUN_ID, type Task } from './task.ts';

/*
 * The one form of a task. Both kinds of text are made from `TASK_FIELDS`: a field that is added there travels everywhere.
 *
 * | where                        | what stands there                                                                      |
 * |------------------------------|----------------------------------------------------------------------------------------|
 * | a store                      | run, host, queue and mark, which a store decides by, and the form: a text that it keeps and gives back as it is |
 * | a message, and a dead letter | everything, as the fields of one JSON object                                            |
 */

/** What a store knows of a task besides its form. */
export type TaskPlace = Pick<Task, 'run' | 'host' | 'queue' | 'mark'>;

/** The version of the messages that this program writes. */
export const MESSAGE_VERSION = 1;

const FIELDS: readonly (readonly [name: string, field: TaskField])[] = Object.entries(TASK_FIELDS);

/** What a task says of which nothing but its URL is known. */
export const INITIAL_FIELDS = Object.fromEntries(
  FIELDS.flatMap(([name, { initial }]) => (initial === undefined ? [] : [[name, initial]])),
) as FieldsOfTask;

const shape = Object.fromEntries(
  FIELDS.map(([name, { schema, initial }]) => [
    name,
    initial === undefined ? schema.optional() : schema.default(initial),
  ]),
);

const formSchema = z.object({ url: textSchema().optional(), ...shape });

/** The form: what a task is beside its place, and beside what that says. Mostly empty, for the page of a sitemap. */
export function formOf(task: Omit<Task, 'run'>): string {
  const form: Record<string, unknown> = {};
  let isEmpty = true;
  if (task.url !== keyOfMark(task.mark, task.step)) {
    form.url = task.url;
    isEmpty = false;
  }
  for (const [name, { initial }] of FIELDS) {
    const value = (task as Readonly<Record<string, unknown>>)[name];
    if (value === undefined || value === initial) continue;
    form[name] = value;
    isEmpty = false;
  }
  return isEmpty ? '' : JSON.stringify(form);
}

/** The task that a form is of; nothing if the text isn't a form. */
export function taskOf(form: string, { run, host, queue, mark }: TaskPlace): Task | undefined {
  const step = stepOfMark(mark);
  const key = keyOfMark(mark, step);
  if (form === '') return { run, url: key, host, mark, step, queue, ...INITIAL_FIELDS };
  const read = formSchema.safeParse(parsed(form));
  if (!read.success) return undefined;
  const { url = key, ...fields } = read.data;
  return { run, url, host, mark, step, queue, ...(fields as unknown as FieldsOfTask) };
}

/** A task as messages and dead letters have it. */
export interface WrittenTask extends FieldsOfTask {
  readonly v: typeof MESSAGE_VERSION;
  /** Left out by a stranger. */
  readonly run?: string;
  readonly url: string;
  /** What the URL is compared by, where its run has rules of its own for that. */
  readonly key?: string;
  readonly step: string;
  readonly queue: Queue;
}

/** Reads a {@link WrittenTask}, which any AMQP client may have written: no more than the URL is needed. */
export const writtenTaskSchema = z.object({
  v: z.literal(MESSAGE_VERSION).default(MESSAGE_VERSION),
  run: z.string().regex(RUN_ID).optional(),
  url: textSchema(),
  key: textSchema().regex(/^\S+$/).optional(),
  step: textSchema().regex(/^\S*$/).default(FIRST_STEP),
  queue: z.enum(QUEUES).default('normal'),
  ...shape,
}) as unknown as z.ZodObject<z.ZodRawShape> & z.ZodType<WrittenTask>;

/** A task as an object of JSON. */
export function writtenTask(task: Task): object {
  const { run, url, host, mark, step, queue } = task;
  const key = keyOfMark(mark, step);
  const isPlain = host === MALFORMED_HOST || key === keyWithLogin(canonicalOf(url), loginFor(url, task.logins));
  return {
    v: MESSAGE_VERSION,
    run,
    url,
    ...(isPlain ? {} : { key }),
    ...(step === FIRST_STEP ? {} : { step }),
    queue,
    ...fieldsOf(task),
  };
}

/** What a task has from its beginning: redirects come later, and credentials go by its URL. */
export type CarriedFields = Omit<FieldsOfTask, 'redirects' | 'logins'>;

/** Those of a task, for another one of the same URL. */
export function carriedFields({ redirects: _, logins: __, ...fields }: FieldsOfTask): CarriedFields {
  return fieldsOf(fields) as CarriedFields;
}

/** The fields of a task in its record, besides those of all records. */
export function recordedFields(task: FieldsOfTask): FieldsOfRecord {
  return fieldsOf(task, ([, { isInRecord }]) => isInRecord === true) as FieldsOfRecord;
}

/** Those that are left out are left out. */
function fieldsOf(task: FieldsOfTask, isMeant: (field: (typeof FIELDS)[number]) => boolean = () => true): object {
  const fields: Record<string, unknown> = {};
  for (const field of FIELDS) {
    const value = (task as Readonly<Record<string, unknown>>)[field[0]];
    if (value !== undefined && isMeant(field)) fields[field[0]] = value;
  }
  return fields;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
