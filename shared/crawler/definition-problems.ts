import { nearestOf } from '../settings/nearest-name.ts';
import { rate } from '../settings/parsers.ts';
import { DAY_MS } from '../task/durations.ts';
import { isObject } from '../task/is-object.ts';
import { policyProblems } from '../task/task/retry-policy.ts';
import { takenStatusProblems } from '../task/task/taken-statuses.ts';
import { isUrlPattern } from '../task/url/glob.ts';
import { SCOPES } from '../task/url/scope.ts';
import { sessionNameProblems } from './around/session.ts';
import { aroundProblems } from './around/surroundings.ts';
import { conditionProblem } from './condition.ts';
import type { AnyDefinition, StepRules } from './definition.ts';
import { FILE_STEP } from './file-step.ts';
import { type Join, RETRIED_OF_JOINS } from './joins/joins.ts';
import { NAME } from './name.ts';

/** A step as its author wrote it, not yet checked. */
interface WrittenStep extends Omit<StepRules, 'scope' | 'include' | 'exclude'> {
  readonly run?: unknown;
  readonly to?: unknown;
  readonly session?: unknown;
  readonly scope?: unknown;
  readonly include?: unknown;
  readonly exclude?: unknown;
  readonly keeps?: unknown;
  readonly record?: unknown;
}

/** The fields of a definition, in its two forms. */
const AROUND_FIELDS = ['name', 'accepts', 'strictVersion', 'secrets', 'session', 'middleware'];
const SHORT_FIELDS = [...AROUND_FIELDS, 'step', 'statuses'];
const LONG_FIELDS = [...AROUND_FIELDS, 'step', 'steps', 'args', 'seeds', 'patterns', 'sessions', 'joins'];
const STEP_FIELDS = [
  ...['run', 'to', 'fallback', 'session', 'keeps', 'record', 'when', 'scope', 'include', 'exclude', 'priority'],
  ...['deadlineMs', 'timeoutMs', 'retry', 'apart', 'rate', 'statuses'],
];
const JOIN_FIELDS = ['run', 'per', 'of', 'record', 'deadlineMs', 'timeoutMs', 'retry'];

/** Fields of Scrapy's spiders and of Crawlee's crawlers, by the field that means the same here. */
const ELSEWHERE: Readonly<Record<string, readonly string[]>> = {
  args: ['arguments', 'params', 'parameters', 'input'],
  fallback: ['errback', 'errorHandler', 'failedRequestHandler'],
  keeps: ['meta', 'cb_kwargs', 'userData'],
  patterns: ['rules', 'sitemap_rules'],
  record: ['schema', 'item', 'fields'],
  run: ['callback', 'parse', 'handler', 'requestHandler'],
  seeds: ['start_urls', 'startUrls', 'start', 'urls', 'start_requests', 'sitemap_urls'],
  statuses: ['handle_httpstatus_list', 'ignoreHttpErrorStatusCodes'],
  steps: ['handlers', 'callbacks', 'router', 'routes'],
};

/** JavaScript puts such names first in an object, wherever they are written, so they would change which step is the first. */
const DIGITS = /^\d+$/;

/** Longest time that a step or a join can set. */
const LONGEST_MS = 365 * DAY_MS;

/** Returns the problems in the fields of a definition. Its graph is checked later. */
export function definitionProblems(definition: unknown): string[] {
  if (typeof definition !== 'object' || definition === null) return ['expected an object with a name and steps'];
  const { name, step, steps, args, seeds, accepts } = definition as Record<string, unknown>;
  const isShort = step !== undefined && steps === undefined;
  const misplaced = isShort ? [] : Object.keys(definition).filter((field) => isOfSteps(field));
  const problems = misplaced.map((field) => `expected ${field} in the steps it is for, not beside them`);
  problems.push(...unknownFields(definition, [...(isShort ? SHORT_FIELDS : LONG_FIELDS), ...misplaced]));
  if (typeof name !== 'string' || !NAME.test(name))
    problems.push('expected a name of letters, digits and hyphens, at most 63');
  if (step !== undefined && steps !== undefined) problems.push('expected either step or steps, got both');
  else if (step !== undefined) problems.push(...(typeof step === 'function' ? [] : ['expected step to be a function']));
  else if (typeof steps !== 'object' || steps === null || Object.keys(steps).length === 0)
    problems.push('expected steps, by their names: { start: { run({ page }) { … } } }');
  else problems.push(...stepProblems(definition as AnyDefinition));
  if (isShort) problems.push(...takenStatusProblems((definition as { readonly statuses?: unknown }).statuses));
  if (args !== undefined && !(isSchema(args) && 'shape' in args))
    problems.push('expected args to be a zod object: z.object({ … })');
  if (seeds !== undefined && typeof seeds !== 'function' && !Array.isArray(seeds))
    problems.push('expected seeds to be a list of URLs, or a function that gives one');
  if (accepts !== undefined && typeof accepts !== 'function') problems.push('expected accepts to be a function');
  return [...problems, ...aroundProblems(definition)];
}

/** Returns whether only steps have a field, of all parts of a crawler with steps. */
function isOfSteps(field: string): boolean {
  return STEP_FIELDS.includes(field) && !LONG_FIELDS.includes(field);
}

function stepProblems(definition: AnyDefinition): string[] {
  const steps = Object.entries(definition.steps as Readonly<Record<string, WrittenStep>>);
  const names = steps.map(([name]) => name);
  const broken = steps.filter(([, step]) => !isObject(step));
  if (broken.length > 0)
    return broken.map(([name]) => `step ${name}: expected an object with a function: { run() {} }`);
  const problems = steps.flatMap(([name, step]) => {
    const { run, when, to, scope, include = [], exclude = [], retry, rate: written, statuses, ...times } = step;
    const own = [...nameProblems(name), ...unknownFields(step, STEP_FIELDS), ...schemaProblems(step)];
    if (DIGITS.test(name))
      own.push('expected a name with a letter in it: JavaScript puts names of digits alone before all others');
    if (name === FILE_STEP.name) own.push('expected another name: this is the step that stores files');
    if (typeof run !== 'function') own.push('expected run to be a function');
    if (to !== undefined && !Array.isArray(to)) own.push('expected to to be a list of steps');
    const condition = when === undefined ? undefined : conditionProblem(when);
    if (condition !== undefined) own.push(`when: ${condition}`);
    if (retry !== undefined) own.push(...policyProblems(retry).map((each) => `retry: ${each}`));
    own.push(...timeProblems(times), ...takenStatusProblems(statuses));
    if (scope !== undefined && !(SCOPES as readonly unknown[]).includes(scope))
      own.push(`expected scope to be one of ${SCOPES.join(', ')}, got ${String(scope)}`);
    const paced = written === undefined ? undefined : rate()(String(written));
    if (paced !== undefined && 'expected' in paced) own.push(`expected rate to be ${paced.expected}`);
    for (const [field, patterns] of Object.entries({ include, exclude }))
      own.push(
        ...(Array.isArray(patterns) ? patternProblems(patterns) : [`expected ${field} to be a list of patterns`]),
      );
    return own.map((each) => `step ${name}: ${each}`);
  });
  const starts = [...names, FILE_STEP.name];
  const unknown = Object.keys(definition.patterns ?? {}).filter((name) => !starts.includes(name));
  problems.push(...unknown.map((name) => `patterns name ${name}, which is no step`));
  const sessions = sessionNameProblems(
    steps.map(([name, step]) => ({ ...step, name })),
    definition as { readonly sessions?: object },
  );
  const patterns = Object.values(definition.patterns ?? {}) as readonly (string | readonly string[])[];
  return [...problems, ...sessions, ...joinProblems(definition), ...patternProblems(patterns.flat())];
}

function joinProblems({ joins = {} }: AnyDefinition): string[] {
  return Object.entries(joins as Readonly<Record<string, Partial<Join>>>).flatMap(([name, join]) => {
    if (!isObject(join)) return [`join ${name}: expected an object with a function: { of: ['step'], run() {} }`];
    const { run, of, retry, ...times } = join;
    const own = [...nameProblems(name), ...unknownFields(join, JOIN_FIELDS), ...schemaProblems(join)];
    if (typeof run !== 'function') own.push('expected run to be a function');
    if (!Array.isArray(of)) own.push('expected of to be a list of steps and joins');
    if (retry !== undefined) own.push(...joinRetryProblems(retry).map((each) => `retry: ${each}`));
    own.push(...timeProblems(times));
    return own.map((each) => `join ${name}: ${each}`);
  });
}

/** Returns the problems with the name of a step or a join. Refuses names that every object has, such as `constructor`. */
function nameProblems(name: string): string[] {
  if (!NAME.test(name)) return ['expected a name of letters, digits and hyphens, at most 63'];
  return Object.hasOwn(Object.prototype, name) ? ['expected another name: every JavaScript object has this one'] : [];
}

/** Returns a problem for each unknown field, which would otherwise be ignored silently. */
function unknownFields(written: object, known: readonly string[]): string[] {
  return Object.keys(written)
    .filter((field) => !known.includes(field))
    .map((field) => {
      const nearest = known.find((each) => ELSEWHERE[each]?.includes(field)) ?? nearestOf(field, known);
      return `there is no ${field}${nearest === undefined ? `; there are ${known.join(', ')}` : `: did you mean ${nearest}?`}`;
    });
}

function schemaProblems({ keeps, record }: { readonly keeps?: unknown; readonly record?: unknown }): string[] {
  return Object.entries({ keeps, record }).flatMap(([field, schema]) =>
    schema === undefined || isSchema(schema) ? [] : [`expected ${field} to be a zod schema: z.object({ … })`],
  );
}

/** Returns whether a value is a schema, from any copy of zod. */
function isSchema(value: unknown): value is object {
  return isObject(value) && 'safeParse' in value && typeof value.safeParse === 'function';
}

/** Returns the problems with the times of a step or a join. */
function timeProblems(times: Readonly<Record<string, unknown>>): string[] {
  return ['timeoutMs', 'deadlineMs'].flatMap((name) => {
    const ms = times[name];
    const isTime = ms === undefined || (typeof ms === 'number' && ms > 0 && ms <= LONGEST_MS);
    return isTime
      ? []
      : [`expected ${name} to be milliseconds, more than 0 and at most ${LONGEST_MS}, got ${String(ms)}`];
  });
}

function patternProblems(patterns: readonly string[]): string[] {
  return patterns.flatMap((pattern) => {
    if (!isUrlPattern(pattern)) return [`no URL matches "${pattern}": a pattern begins with /, * or https://`];
    return CHOICE.test(pattern) ? [`"${pattern}" has braces, which stand for themselves: list a pattern for each`] : [];
  });
}

/** A choice of several texts, as shells and other crawlers write it: `{a,b}`. */
const CHOICE = /\{[^{},]*,[^{}]*\}/;

/** Returns the problems with a join's retry policy, each the end of a sentence. A join asks no host, so none of its failures is transient. */
function joinRetryProblems(policy: unknown): readonly string[] {
  const { when } = (policy ?? {}) as { readonly when?: unknown };
  const known = RETRIED_OF_JOINS.join(', ');
  const mend = `expected when to be all, a list of ${known}, or a function`;
  if (when === 'transient') return [`${mend}: a join asks no host, so nothing that fails is transient`];
  const isOther = (reason: unknown): boolean => !(RETRIED_OF_JOINS as readonly unknown[]).includes(reason);
  if (Array.isArray(when))
    return when.filter(isOther).map((reason) => `a join doesn't fail for ${String(reason)}: ${mend}`);
  return policyProblems(policy);
}
