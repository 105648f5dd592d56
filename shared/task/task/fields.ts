import { z } from 'zod';
import type { Logins } from '../url/logins.ts';
import { isProblem, readUrl } from '../url/url.ts';
import type { CookieLine } from './cookie-lines.ts';
import { requestSchema } from './request.ts';

/** The longest text in a message, in bytes. */
export const MAX_FIELD_BYTES = 65_536;
/** What a task keeps for the crawler's steps, in bytes of JSON. */
export const MAX_KEPT_BYTES = 16_384;
/** How deep that is nested. */
export const MAX_KEPT_DEPTH = 32;

/** One field of a task, besides its URL, mark and place. */
export interface TaskField<T = unknown> {
  /** Its schema in JSON. */
  readonly schema: z.ZodType<T>;
  /** Its value in a task that doesn't give it. Without an initial value the field is optional. */
  readonly initial?: T;
  /** It is part of records, too. */
  readonly isInRecord?: true;
}

/**
 * A task's own fields. A field that is added here is written and read by {@link formOf} and its neighbours everywhere: in the
 * broker's messages, in every store, and in dead letters. Nothing else takes a task apart.
 */
export const TASK_FIELDS = {
  /** Number of links followed from a seed to this URL. */
  depth: { schema: z.int().min(0), initial: 0, isInRecord: true },
  /** A page has led here, though this is no deeper than a seed: by a step, or as the next page of a list. */
  followed: { schema: z.literal(true) },
  /** With scope `path`: the only folder, host and path, in which links are followed. Left out for seeds and other scopes. */
  within: { schema: textSchema() },
  /** What the links that led here kept, for the crawler's steps: at most 16 KiB. Left out when there is nothing. */
  kept: { schema: keptSchema() },
  /** What is sent, if it is no plain GET of the URL. */
  request: { schema: requestSchema() },
  /** Of a join: what its inputs are those of. Its other fields, the URL included, are its owner's. */
  join: { schema: z.object({ group: groupSchema(), per: z.string().optional(), owner: z.string().optional() }) },
  /**
   * Of a group that a replay crawls once more: its owner and its members follow no link that leaves it. Of the owner, `claimed` is
   * the mark that its redirects had claimed before.
   */
  replayed: { schema: z.object({ claimed: textSchema().optional() }) },
  /**
   * The redirects followed before the task had to wait for a host: the last of these URLs is requested next, and its host is
   * the task's host. Left out when there are none.
   */
  redirects: { schema: z.array(textSchema()).min(1) as z.ZodType<readonly string[]> },
  /** Credentials for its own origin and for origins that redirects have led to. Left out when there are none. */
  logins: { schema: z.record(textSchema(), textSchema()) as z.ZodType<Logins> },
  /** Cookies that its redirects have set, until it has its page. Left out when there are none. */
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

/** Those that are part of a record. */
export type FieldsOfRecord = Pick<FieldsOfTask, NameWith<{ readonly isInRecord: true }>>;

/** The id of a group, or `run`. */
export function groupSchema() {
  return z.string().regex(/^[a-z0-9]{1,64}$/);
}

/** A text of at most {@link MAX_FIELD_BYTES} in UTF-8. */
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

/** What is nested by the thousands can be read, but not written again. */
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
