import type { z } from 'zod';
import { ConfigurationError } from '../runtime/errors.ts';
import { FIRST_STEP } from '../task/url/fingerprint.ts';
import { isUrlPattern, matchesUrl } from '../task/url/glob.ts';
import { conditionProblem } from './condition.ts';
import type { AcceptsType, Definition, PageFunction, ShortDefinition, StepRules } from './definition.ts';
import { StepGraph } from './graph.ts';
import { mediaTypeOf } from './media-type.ts';

/** Any definition, with its types forgotten. */
type AnyDefinition = Definition<z.ZodObject, Record<string, unknown>, unknown, unknown, unknown>;

/** A step of a crawler. */
export interface Step extends StepRules {
  readonly name: string;
  /** How tasks name it: the first step is {@link FIRST_STEP}. */
  readonly key: string;
  readonly to: readonly string[];
  readonly keeps?: z.ZodType;
  readonly record?: z.ZodType;
  readonly run: (context: never) => unknown;
}

/** Names of crawlers and steps: they are part of marks, file names and Redis keys. */
const NAME = /^[a-z0-9][a-z0-9-]{0,62}$/i;

/**
 * What to do with pages: a named module. Made by {@link defineCrawler}, checked as a whole.
 *
 * @throws ConfigurationError with all that is wrong with the definition
 */
export class Crawler {
  readonly name: string;
  readonly accepts: AcceptsType;
  /** The function of a short crawler; nothing if it has steps. */
  readonly pageFunction: PageFunction | undefined;
  /** In the order of their definition; none if it is a short crawler. */
  readonly steps: readonly Step[];
  readonly args: z.ZodObject | undefined;
  readonly seeds: ((about: { readonly args: unknown }) => readonly string[] | Promise<readonly string[]>) | undefined;
  readonly graph: StepGraph;
  readonly #byKey: ReadonlyMap<string, Step>;
  readonly #patterns: readonly (readonly [pattern: string, key: string])[];

  constructor(definition: ShortDefinition | AnyDefinition) {
    const problems = problemsOf(definition);
    if (problems.length > 0)
      throw new ConfigurationError(problems.map((each) => `crawler ${nameIn(definition)}: ${each}`));
    this.name = definition.name;
    this.accepts = definition.accepts ?? acceptsText;
    const isShort = 'step' in definition;
    this.pageFunction = isShort ? definition.step : undefined;
    this.args = isShort ? undefined : definition.args;
    this.seeds = isShort ? undefined : (definition.seeds as Crawler['seeds']);
    this.steps = isShort ? [] : stepsOf(definition);
    const patterns = isShort ? {} : patternsOf(definition);
    this.graph = new StepGraph(this.steps, [this.first?.name ?? '', ...Object.keys(patterns)]);
    const unsound = this.steps.length === 0 ? [] : this.graph.problems();
    if (unsound.length > 0) throw new ConfigurationError(unsound.map((each) => `crawler ${this.name}: ${each}`));
    this.#byKey = new Map(this.steps.map((step) => [step.key, step]));
    this.#patterns = Object.entries(patterns).flatMap(([name, texts]) =>
      texts.map((pattern) => [pattern, this.stepNamed(name)?.key ?? FIRST_STEP] as const),
    );
  }

  /** Where seeds start; nothing for a short crawler. */
  get first(): Step | undefined {
    return this.steps[0];
  }

  /** Has it a function for tasks of this step? */
  hasStep(key: string): boolean {
    return this.pageFunction === undefined ? this.#byKey.has(key) : key === FIRST_STEP;
  }

  /** The step that tasks name so. */
  step(key: string): Step | undefined {
    return this.#byKey.get(key);
  }

  stepNamed(name: string): Step | undefined {
    return this.steps.find((step) => step.name === name);
  }

  /** The step, as tasks name it, at which a URL starts that no step has followed. */
  startOf(href: string): string {
    return this.#patterns.find(([pattern]) => matchesUrl(pattern, href))?.[1] ?? FIRST_STEP;
  }
}

/** Defines a crawler of several steps; see {@link Definition}. Its types are checked here, and all else when it is loaded. */
export function defineCrawler<
  Names extends Record<string, unknown>,
  const To extends Record<string, unknown>,
  Keeps extends Record<string, unknown>,
  Items extends Record<string, unknown>,
  Args extends z.ZodObject = z.ZodObject<Record<never, never>>,
>(definition: Definition<Args, Names, To, Keeps, Items>): Crawler;
/** Defines a crawler of one function. */
export function defineCrawler(definition: ShortDefinition): Crawler;
export function defineCrawler(definition: unknown): Crawler {
  return new Crawler(definition as ShortDefinition | AnyDefinition);
}

/** Accepts the types of page that contain text. A missing type is accepted. */
export function acceptsText(contentType: string | undefined): boolean {
  const type = mediaTypeOf(contentType);
  if (type === undefined) return true;
  return type.startsWith('text/') || /^application\/(?:[\w.-]+\+)?(?:xml|json|xhtml\+xml)$/.test(type);
}

function nameIn(definition: unknown): string {
  const { name } = (definition ?? {}) as { readonly name?: unknown };
  return typeof name === 'string' ? name : 'without a name';
}

/** What is wrong with a definition as an object, before its graph is looked at. */
function problemsOf(definition: unknown): string[] {
  if (typeof definition !== 'object' || definition === null) return ['expected an object with a name and steps'];
  const { name, step, steps } = definition as Record<string, unknown>;
  const problems: string[] = [];
  if (typeof name !== 'string' || !NAME.test(name))
    problems.push('expected a name of letters, digits and hyphens, at most 63');
  if (step !== undefined && steps !== undefined) problems.push('expected either step or steps, got both');
  else if (step !== undefined) problems.push(...(typeof step === 'function' ? [] : ['expected step to be a function']));
  else if (typeof steps !== 'object' || steps === null || Object.keys(steps).length === 0)
    problems.push('expected steps, by their names: { start: { run({ page }) { … } } }');
  else problems.push(...stepProblems(definition as AnyDefinition));
  return problems;
}

function stepProblems(definition: AnyDefinition): string[] {
  const steps = Object.entries(definition.steps as Readonly<Record<string, Partial<Step>>>);
  const names = steps.map(([name]) => name);
  const problems = steps.flatMap(([name, { run, when, to, include, exclude }]) => {
    const own: string[] = [];
    if (!NAME.test(name)) own.push('expected a name of letters, digits and hyphens, at most 63');
    if (typeof run !== 'function') own.push('expected run to be a function');
    if (to !== undefined && !Array.isArray(to)) own.push('expected to to be a list of steps');
    const condition = when === undefined ? undefined : conditionProblem(when);
    if (condition !== undefined) own.push(`when: ${condition}`);
    return [...own, ...patternProblems([...(include ?? []), ...(exclude ?? [])])].map(
      (each) => `step ${name}: ${each}`,
    );
  });
  const unknown = Object.keys(definition.patterns ?? {}).filter((name) => !names.includes(name));
  problems.push(...unknown.map((name) => `patterns name ${name}, which is no step`));
  return [...problems, ...patternProblems(Object.values(patternsOf(definition)).flat())];
}

function patternProblems(patterns: readonly string[]): string[] {
  return patterns
    .filter((pattern) => !isUrlPattern(pattern))
    .map((pattern) => `no URL matches "${pattern}": a pattern begins with /, * or https://`);
}

function patternsOf({ patterns = {} }: AnyDefinition): Readonly<Record<string, readonly string[]>> {
  const texts = patterns as Readonly<Record<string, string | readonly string[]>>;
  return Object.fromEntries(Object.entries(texts).map(([name, each]) => [name, [each].flat()]));
}

function stepsOf({ steps }: AnyDefinition): Step[] {
  return Object.entries(steps as Readonly<Record<string, Omit<Step, 'name' | 'key'>>>).map(([name, step], at) => ({
    ...step,
    name,
    key: at === 0 ? FIRST_STEP : name,
    to: step.to ?? [],
  }));
}
