import { z } from 'zod';
import { groupOfMark, JOIN_HOST } from '../group/group.ts';
import { FIRST_STEP, keyOfMark, MALFORMED_HOST, stepOfMark } from '../url/fingerprint.ts';
import { keyWithLogin, loginFor } from '../url/logins.ts';
import { canonicalOf } from '../url/url.ts';
import {
  type FieldsOfRecord,
  type FieldsOfTask,
  groupSchema,
  TASK_FIELDS,
  type TaskField,
  textSchema,
} from './fields.ts';
import { asFollowed } from './request.ts';
import { QUEUES, type Queue } from './routing.ts';
import { RUN_ID, type Task } from './task.ts';

/*
 * How a task is written as text. Both ways are made from `TASK_FIELDS`, so a field added there travels everywhere.
 *
 * | where                        | how a task is written                                                                  |
 * |------------------------------|----------------------------------------------------------------------------------------|
 * | a store                      | run, host, queue and mark, which the store uses, and the form: a text that it returns unchanged |
 * | a message, and a dead letter | everything, as the fields of one JSON object                                            |
 */

/** What a store knows about a task besides its form. */
export type TaskPlace = Pick<Task, 'run' | 'host' | 'queue' | 'mark'>;

/** The newest message version. Only tasks of groups and joins have it, so that workers that know neither leave them to others. */
export const MESSAGE_VERSION = 2;
const PLAIN_VERSION = 1;

const FIELDS: readonly (readonly [name: string, field: TaskField])[] = Object.entries(TASK_FIELDS);

/** The fields of a task about which only the URL is known. */
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

/** Writes the form of a task: everything that its place doesn't say. Empty for most pages of a sitemap. */
export function formOf(task: Omit<Task, 'run'>): string {
  const form: Record<string, unknown> = {};
  let isEmpty = true;
  if (task.url !== keyOfMark(task.mark)) {
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

/** Reads a form back into its task; nothing if the text isn't a form. */
export function taskOf(form: string, { run, host, queue, mark }: TaskPlace): Task | undefined {
  const step = stepOfMark(mark);
  const key = keyOfMark(mark);
  if (form === '') return { run, url: key, host, mark, step, queue, ...INITIAL_FIELDS };
  const read = formSchema.safeParse(parsed(form));
  if (!read.success) return undefined;
  const { url = key, ...fields } = read.data;
  return { run, url, host, mark, step, queue, ...(fields as unknown as FieldsOfTask) };
}

/** A task in the form that messages and dead letters use. */
export interface WrittenTask extends FieldsOfTask {
  readonly v: 1 | 2;
  /** Left out by some other programs. */
  readonly run?: string;
  readonly url: string;
  /** The key by which the URL is compared, if the run's rules make it differ from the canonical URL. */
  readonly key?: string;
  readonly step: string;
  readonly queue: Queue;
  /** The group that the task belongs to. */
  readonly group?: string;
}

/** Schema of a {@link WrittenTask}, which any AMQP client may have written. Only the URL is required. */
export const writtenTaskSchema = z.object({
  v: z.literal([PLAIN_VERSION, MESSAGE_VERSION]).default(PLAIN_VERSION),
  run: z.string().regex(RUN_ID).optional(),
  url: textSchema(),
  key: textSchema().regex(/^\S+$/).optional(),
  step: textSchema().regex(/^\S*$/).default(FIRST_STEP),
  queue: z.enum(QUEUES).default('normal'),
  group: groupSchema().optional(),
  ...shape,
}) as unknown as z.ZodObject<z.ZodRawShape> & z.ZodType<WrittenTask>;

/** Turns a task into an object to be written as JSON. */
export function writtenTask(task: Task): object {
  const { run, url, host, mark, step, queue, join } = task;
  const key = keyOfMark(mark);
  const group = host === MALFORMED_HOST || join !== undefined ? undefined : groupOfMark(mark);
  const isPlain =
    host === JOIN_HOST || host === MALFORMED_HOST || key === keyWithLogin(canonicalOf(url), loginFor(url, task.logins));
  return {
    v: group === undefined && join === undefined ? PLAIN_VERSION : MESSAGE_VERSION,
    run,
    url,
    ...(isPlain ? {} : { key }),
    ...(step === FIRST_STEP ? {} : { step }),
    queue,
    ...(group === undefined ? {} : { group }),
    ...fieldsOf(task),
  };
}

/** The fields that a task has from the start. Redirects and their cookies come later, and credentials depend on its URL. */
export type CarriedFields = Omit<FieldsOfTask, 'redirects' | 'logins' | 'cookies' | 'join'>;

/** Returns the fields that a new task with the same URL starts with. */
export function carriedFields({
  redirects: _,
  logins: __,
  cookies: ___,
  join: ____,
  request,
  ...fields
}: FieldsOfTask): CarriedFields {
  const followed = request === undefined ? {} : { request: asFollowed(request) };
  return fieldsOf({ ...fields, ...followed }) as CarriedFields;
}

/** Returns the task's fields that go into its record. */
export function recordedFields(task: FieldsOfTask): FieldsOfRecord {
  return fieldsOf(task, ([, { isInRecord }]) => isInRecord === true) as FieldsOfRecord;
}

/** Returns those of the selected fields that the task has. */
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
