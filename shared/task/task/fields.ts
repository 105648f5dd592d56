import { z } from 'zod';
import type { Logins } from '../url/logins.ts';

/** A text in a message has at most this many bytes. */
export const MAX_FIELD_BYTES = 65_536;

/** One field of a task besides its URL, its mark and its place. */
export interface TaskField<T = unknown> {
  /** What stands for it in JSON. */
  readonly schema: z.ZodType<T>;
  /** Its value in a task that says nothing of it. Without one, a task may lack it. */
  readonly initial?: T;
  /** Records have it, too. */
  readonly isInRecord?: true;
}

/**
 * The fields of a task that it alone decides by. What is written here is written and read by {@link formOf} and its
 * neighbours: in the broker's message, in every store, and in the dead letter. Nothing else takes a task apart.
 */
export const TASK_FIELDS = {
  /** Links followed from a seed to here. */
  depth: { schema: z.int().min(0), initial: 0, isInRecord: true },
  /** Links are followed in this folder only, host and path, in a run of scope `path`. Left out: a seed, or another scope. */
  within: { schema: textSchema() },
  /**
   * Where redirects have led so far, when a host on the way made the task wait: the last of these URLs is asked next, and the
   * task's host is that one's. Left out when there are none.
   */
  redirects: { schema: z.array(textSchema()).min(1) as z.ZodType<readonly string[]> },
  /** Credentials for its own origin, and for those that redirects have led it to. Left out when there are none. */
  logins: { schema: z.record(textSchema(), textSchema()) as z.ZodType<Logins> },
} as const satisfies Readonly<Record<string, TaskField>>;

type Fields = typeof TASK_FIELDS;
type Name = keyof Fields;
type NameWith<Part> = { [K in Name]: Fields[K] extends Part ? K : never }[Name];
type ValueOf<K extends Name> = z.output<Fields[K]['schema']>;
type Initial = NameWith<{ readonly initial: unknown }>;

/** What {@link TASK_FIELDS} say of a task. */
export type FieldsOfTask = { readonly [K in Initial]: ValueOf<K> } & {
  readonly [K in Exclude<Name, Initial>]?: ValueOf<K>;
};

/** Those of them that a record has. */
export type FieldsOfRecord = Pick<FieldsOfTask, NameWith<{ readonly isInRecord: true }>>;

/** A text that is not too long to travel. */
export function textSchema() {
  return z.string().refine(fits, { error: `Too big: expected at most ${MAX_FIELD_BYTES} bytes`, abort: true });
}

/** A character has three bytes at most for each unit of its length: most texts need not be counted. */
function fits(text: string): boolean {
  return text.length * 3 <= MAX_FIELD_BYTES || Buffer.byteLength(text) <= MAX_FIELD_BYTES;
}
