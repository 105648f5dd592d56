import type { z } from 'zod';
import { ConfigurationError, messageOf } from '../runtime/errors.ts';
import { nearestOf } from '../settings/nearest-name.ts';
import type { Crawler } from './crawler.ts';
import { placesIn } from './failures/place.ts';

/**
 * Returns a run's arguments, parsed by its crawler's schema. A text that the schema refuses is tried again as JSON, so that
 * `--arg pages=3` gives a number.
 *
 * @throws ConfigurationError with every problem
 */
export function argsOf({ name, args: schema }: Crawler, given: Readonly<Record<string, unknown>>): unknown {
  const known = Object.keys(schema?.shape ?? {});
  const problems = Object.keys(given)
    .filter((each) => !known.includes(each))
    .map((each) => unknownArg(each, name, known));
  if (problems.length > 0) throw new ConfigurationError(problems);
  if (schema === undefined) return {};
  const values = { ...given };
  for (const issue of judged(schema, values, name).error?.issues ?? []) {
    const [field] = issue.path;
    const text = typeof field === 'string' ? given[field] : undefined;
    if (typeof text === 'string') values[field as string] = fromJson(text);
  }
  const read = judged(schema, values, name);
  if (read.success) return read.data;
  throw new ConfigurationError(read.error.issues.map((issue) => argProblem(issue, given)));
}

/** Lists the arguments that a crawler takes, as one types them: `category=all` with a default, `pages` without one. */
export function argLines({ args }: Crawler): string[] {
  return Object.entries(args?.shape ?? {}).map(([name, schema]) => {
    const value = defaultOf(schema as z.ZodType);
    if (value === undefined) return name;
    return `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`;
  });
}

/** Returns the default of an argument; undefined if it has none, or if the function that computes it throws. */
function defaultOf(schema: z.ZodType): unknown {
  try {
    return schema.safeParse(undefined).data;
  } catch {
    return undefined;
  }
}

/** Validates arguments with the author's schema. @throws ConfigurationError if a function in the schema throws */
function judged(schema: z.ZodObject, values: object, crawler: string): z.ZodSafeParseResult<unknown> {
  try {
    return schema.safeParse(values);
  } catch (error: unknown) {
    const place = error instanceof Error ? placesIn(String(error.stack)).crawler : undefined;
    const where = place === undefined ? '' : `${place}: `;
    // Compared by name, since the schema may come from another copy of zod.
    const isAsync = error instanceof Error && error.constructor.name === '$ZodAsyncError';
    const why = isAsync ? 'their schema has something async, but it is checked synchronously' : messageOf(error);
    throw new ConfigurationError([`${where}the arguments of crawler ${crawler}: ${why}`], { cause: error });
  }
}

/** Reads arguments as they are typed, each as `name=value`. @throws ConfigurationError with all that are not */
export function readArgs(texts: readonly string[]): Record<string, string> {
  const wrong = texts.filter((text) => !/^[^=\s]+=/.test(text));
  if (wrong.length > 0)
    throw new ConfigurationError(wrong.map((text) => `expected --arg to be name=value, got "${text}"`));
  return Object.fromEntries(texts.map((text) => [text.slice(0, text.indexOf('=')), text.slice(text.indexOf('=') + 1)]));
}

function unknownArg(arg: string, crawler: string, known: readonly string[]): string {
  if (known.length === 0) return `crawler ${crawler} takes no arguments, got --arg ${arg}`;
  const nearest = nearestOf(arg, known);
  const mend = nearest === undefined ? `it has ${known.join(', ')}` : `did you mean ${nearest}?`;
  return `crawler ${crawler} has no argument ${arg}: ${mend}`;
}

function argProblem({ path, message }: z.core.$ZodIssue, given: Readonly<Record<string, unknown>>): string {
  const name = path.map(String).join('.');
  const got = given[name] === undefined ? '' : ` (got "${given[name]}")`;
  return `--arg ${name}: ${message}${got}`;
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
