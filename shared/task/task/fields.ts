import { z } from 'zod';
import type { Logins } from '../url/logins.ts';
import { isProblem, readUrl } from '../url/url.ts';
import type { CookieLine } from './cookie-lines.ts';
import { requestSchema } from './request.ts';

/** Maximum bytes of one text in a message. */
export const MAX_FIELD_BYTES = 65_536;
/** Maximum bytes, as JSON, of the values that a task keeps for the crawler's steps. */
export const MAX_KEPT_BYTES = 16_384;
/** Maximum nesting of those values. */
export const MAX_KEPT_DEPTH = 32;

/** One field of a task, besides its URL, mark and place. */
export interface TaskField<T = unknown> {
  /** Its schema in JSON. */
  readonly schema: z.ZodType<T>;
  /** Its value in a task that doesn't specify it. Without an initial value the field is optional. */
  readonly initial?: T;
  /** The field is part of records too. */
  readonly isInRecord?: true;
}

/**
 * A task's own fields. A field added here is written and read everywhere, by {@link formOf} and its neighbours: in the
 * broker's messages, in every store and in dead letters. No other code needs to list the fields.
 */
export const TASK_FIELDS = {
  /** Number of links followed from a seed to this URL. */
  depth: { schema: z.int().min(0), initial: 0, isInRecord: true },
  /** A page has led here, though the depth is that of a seed: it was followed by a step, or is the next page of a list. */
  followed: { schema: z.literal(true) },
  /** With scope `path`: the folder (host and path) within which links are followed. Left out for seeds and other scopes. */
  within: { schema: textSchema() },
  /** Values that the links leading here kept for the crawler's steps, at most 16 KiB. Left out when there are none. */
  kept: { schema: keptSchema() },
  /** The request to send, if it isn't a plain GET of the URL. */
  request: { schema: requestSchema() },
  /** For a join: the group it belongs to, and its owner. The task's other fields, including the URL, are those of the owner. */
  join: { schema: z.object({ group: groupSchema(), per: z.string().optional(), owner: z.string().optional() }) },
  /**
   * Set in a group that a replay crawls again: its owner and members follow no links out of the group. In the owner, `claimed` is
   * the mark that its redirects claimed the first time.
   */
  replayed: { schema: z.object({ claimed: textSchema().optional() }) },
  /**
   * The redirects followed before the task had to wait for a host. The last of these URLs is requested next, and its host is
   * the task's host. Left out when there are none.
   */
  redirects: { schema: z.array(textSchema()).min(1) as z.ZodType<readonly string[]> },
  /** Credentials for its own origin and for origins that redirects have led to. Left out when there are none. */
  logins: { schema: z.record(textSchema(), textSchema()) as z.ZodType<Logins> },
  /** Cookies set by its redirects, until the task has its page. Left out when there are none. */
  cookies: { schema: z.array(z.tuple([urlSchema(), textSchema()])) as unknown as z.ZodType<readonly CookieLine[]> },
} as const satisfies Readonly<Record<string, TaskField>>;

type Fields = typeof TASK_FIELDS;
type Name = keyof Fields;
type NameWith<Part> = { [K in Name]: Fields[K] extends Part ? K : never }[Name];
type ValueOf<K extends Name> = z.output<Fields[K]['schema']>;
type Initial = NameWith<{ readonly initial: unknown }>;

/** The values of {@link TASK_FIELDS} in a task. */
export type FieldsOfTask = { readonly [K in Initial]: ValueOf<K> } & {
  readonly [K in Exclude<Name, Initial>]?: ValueOf<K>;
};

/** The fields of a task that are part of its record. */
export type FieldsOfRecord = Pick<FieldsOfTask, NameWith<{ readonly isInRecord: true }>>;

/** Schema of a group id, or `run`. */
export function groupSchema() {
  return z.string().regex(/^[a-z0-9]{1,64}$/);
}

/** Schema of a text of at most {@link MAX_FIELD_BYTES} in UTF-8. */
export function textSchema() {
  return z.string().refine(fits, { error: `Too big: expected at most ${MAX_FIELD_BYTES} bytes`, abort: true });
}

function urlSchema() {
  return textSchema().refine((text) => !isProblem(readUrl(text)), { error: 'Expected a URL that can be crawled' });
}

function keptSchema(): z.ZodType<Readonly<Record<string, unknown>>> {
  return z.record(z.string(), z.unknown()).refine(isKeepable, {
    error: `Expected at most ${MAX_KEPT_BYTES} bytes of JSON, nested at most ${MAX_KEPT_DEPTH} deep`,
  });
}

/** Is the value small and shallow enough? A value nested thousands deep can be parsed, but not written again. */
function isKeepable(kept: object): boolean {
  return !isDeeper(kept, MAX_KEPT_DEPTH) && Buffer.byteLength(JSON.stringify(kept)) <= MAX_KEPT_BYTES;
}

function isDeeper(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return depth === 0 || Object.values(value).some((each) => isDeeper(each, depth - 1));
}

/** A UTF-16 unit takes at most three bytes in UTF-8, so most texts needn't be counted. */
function fits(text: string): boolean {
  return text.length * 3 <= MAX_FIELD_BYTES || Buffer.byteLength(text) <= MAX_FIELD_BYTES;
}
