import type { z } from 'zod';
import { ConfigurationError, messageOf } from '../runtime/errors.ts';
import { nearestOf } from '../settings/nearest-name.ts';
import type { Crawler } from './crawler.ts';
import { placesIn } from './failures/place.ts';

/**
 * A run's arguments as its crawler's schema reads them. A text that the schema refuses is tried as JSON, so that a number may be
 * written `--arg pages=3`.
 *
 * @throws ConfigurationError with all that is wrong
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

/** The arguments that a crawler takes, each as it is typed: `category=all` with its default, `pages` without one. */
export function argLines({ args }: Crawler): string[] {
  return Object.entries(args?.shape ?? {}).map(([name, schema]) => {
    const value = defaultOf(schema as z.ZodType);
    if (value === undefined) return name;
    return `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`;
  });
}

/** What an argument is that nobody gave; nothing if there is no default, or its function needs what isn't there yet. */
function defaultOf(schema: z.ZodType): unknown {
  try {
    return schema.safeParse(undefined).data;
  } catch {
    return undefined;
  }
}

/** What the schema of a crawler's author says. @throws ConfigurationError if a function in it throws */
function judged(schema: z.ZodObject, values: object, crawler: string): z.ZodSafeParseResult<unknown> {
  try {
    return schema.safeParse(values);
  } catch (error: unknown) {
    const place = error instanceof Error ? placesIn(String(error.stack)).crawler : undefined;
    const where = place === undefined ? '' : `${place}: `;
    // Of any copy of zod.
    const isAsync = error instanceof Error && error.constructor.name === '$ZodAsyncError';
    const why = isAsync ? 'their schema has something async, and nobody waits for it' : messageOf(error);
    throw new ConfigurationError([`${where}the arguments of crawler ${crawler}: ${why}`], { cause: error });
  }
}

/** Arguments as they are typed, `name=value` each. */
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
