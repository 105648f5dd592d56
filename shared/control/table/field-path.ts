import { UsageError } from '../../runtime/errors.ts';
import { isObject } from '../../task/is-object.ts';

/** A row, in which paths are looked up. */
export interface Row {
  /** An element of the list that `--each` unfolds, or one of several items; otherwise the record's data. */
  readonly item: unknown;
  readonly data: unknown;
  readonly record: Readonly<Record<string, unknown>>;
}

/**
 * The place of a field in a row.
 *
 * | written as              | is                                                                                        |
 * |-------------------------|-------------------------------------------------------------------------------------------|
 * | `.`                     | the item                                                                                  |
 * | nothing: of a schema    | a field of the item alone                                                                 |
 * | `@status`, `@list.id`   | a field of the record                                                                     |
 * | `price`, `offers[0].id` | its first name is looked up in the item, then in the data, then in the record: the first that has it counts |
 */
export type FieldPath =
  | { readonly from: 'item'; readonly name?: string }
  | { readonly from: 'record' | 'any'; readonly name: string; readonly rest: readonly (string | number)[] };

/** A path with the flag and text by which it was given. */
export interface NamedPath {
  readonly flag: string;
  readonly text: string;
  readonly path: FieldPath;
}

export const ITEM: FieldPath = { from: 'item' };

const NO_NAME = /[.,=![\]]/;
const INDEXES = /^(?:\[\d{1,9}\])+$/;

/** Examples of paths, for error messages. */
export const PATH_EXAMPLES = 'name, offers[0].price, @status or .';

/** Reads a path; undefined if the text is not one. */
export function parsePath(text: string): FieldPath | undefined {
  if (text === '.') return ITEM;
  const isOfRecord = text.startsWith('@');
  const [first, ...others] = text
    .slice(isOfRecord ? 1 : 0)
    .split('.')
    .map(parseSteps);
  if (first === undefined || others.includes(undefined)) return undefined;
  const [name, ...indexes] = first;
  if (name.startsWith('@')) return undefined;
  return { from: isOfRecord ? 'record' : 'any', name, rest: [...indexes, ...others.flatMap((steps) => steps ?? [])] };
}

/** Reads a name and the indexes after it, such as `offers[0]`. */
function parseSteps(text: string): readonly [name: string, ...indexes: number[]] | undefined {
  const bracket = text.indexOf('[');
  const [name, indexes] = bracket < 0 ? [text, ''] : [text.slice(0, bracket), text.slice(bracket)];
  if (!isName(name) || (indexes !== '' && !INDEXES.test(indexes))) return undefined;
  return [name, ...Array.from(indexes.matchAll(/\d+/g), ([index]) => Number(index))];
}

function isName(text: string): boolean {
  return text !== '' && text === text.trim() && !NO_NAME.test(text);
}

/** Reads a path. @throws UsageError, naming the flag, if the text is not one */
export function readPath(text: string, flag: string): NamedPath {
  const path = parsePath(text.trim());
  if (path !== undefined) return { flag, text: text.trim(), path };
  throw new UsageError(`expected ${flag} to be a path like ${PATH_EXAMPLES}, got "${text}"`);
}

/** Returns the value at a path; undefined if there is none. */
export function valueAt({ item, data, record }: Row, path: FieldPath): unknown {
  if (path.from === 'item') return path.name === undefined ? item : fieldOf(item, path.name);
  const owners = path.from === 'record' ? [record] : [item, data, record];
  const owner = owners.find((each) => hasField(each, path.name));
  return path.rest.reduce<unknown>(stepInto, fieldOf(owner, path.name));
}

function stepInto(value: unknown, step: string | number): unknown {
  if (typeof step === 'string') return fieldOf(value, step);
  return Array.isArray(value) ? value[step] : undefined;
}

function fieldOf(value: unknown, name: string): unknown {
  return hasField(value, name) ? value[name] : undefined;
}

function hasField(value: unknown, name: string): value is Readonly<Record<string, unknown>> {
  return isObject(value) && Object.hasOwn(value, name);
}
