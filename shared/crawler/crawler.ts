import type { z } from 'zod';
import { ConfigurationError } from '../runtime/errors.ts';
import { rate } from '../settings/parsers.ts';
import type { JoinPlan } from '../task/group/plan.ts';
import { isObject } from '../task/is-object.ts';
import { isTakenStatus } from '../task/task/taken-statuses.ts';
import type { Task } from '../task/task/task.ts';
import { FIRST_STEP } from '../task/url/fingerprint.ts';
import { matchesUrl } from '../task/url/glob.ts';
import { inOrder, type Middleware, middlewareProblems } from './around/middleware.ts';
import { COMMON_SESSION, type NamedSession, type SessionDefinition } from './around/session.ts';
import type { AcceptsType, AnyDefinition, Definition, PageFunction, ShortDefinition, StepRules } from './definition.ts';
import { definitionProblems } from './definition-problems.ts';
import { mediaTypeOf } from './document/media-type.ts';
import { FILE_STEP, fileAskedFor } from './file-step.ts';
import { StepGraph } from './graph.ts';
import { JoinPlanner } from './joins/join-plan.ts';
import type { Join } from './joins/joins.ts';

/** A step of a crawler. */
export interface Step extends StepRules {
  readonly name: string;
  /** Its name in tasks; {@link FIRST_STEP} for the first step. */
  readonly key: string;
  readonly to: readonly string[];
  readonly fallback?: string;
  /** Milliseconds between two requests, from its `rate`. */
  readonly intervalMs?: number;
  readonly keeps?: z.ZodType;
  readonly record?: z.ZodType;
  /** The name of its session; `false` for none. Default: {@link COMMON_SESSION}. */
  readonly session?: string | false;
  readonly run: (context: never) => unknown;
}

/**
 * What to do with pages: a named module. Made by {@link defineCrawler}; the constructor checks the whole definition.
 *
 * @throws ConfigurationError with every problem in the definition
 */
export class Crawler {
  readonly name: string;
  readonly accepts: AcceptsType;
  /** Whether a run continues only under the crawler version it began with. */
  readonly isStrict: boolean;
  /** The function of a short crawler; undefined if the crawler has steps. */
  readonly pageFunction: PageFunction | undefined;
  /** In order of definition; empty for a short crawler. */
  readonly steps: readonly Step[];
  readonly args: z.ZodObject | undefined;
  readonly seeds: ((about: { readonly args: unknown }) => readonly string[] | Promise<readonly string[]>) | undefined;
  /** In order of definition. */
  readonly joins: readonly Join[];
  /** The plan that its runs follow; undefined without joins. */
  readonly joinPlan: JoinPlan | undefined;
  readonly graph: StepGraph;
  /** By the name of a step, the patterns of URLs that start there. */
  readonly patterns: Readonly<Record<string, readonly string[]>>;
  /** Names of the environment variables passed to its login and middleware. */
  readonly secrets: readonly string[];
  /** In the order of execution. */
  readonly middleware: readonly Middleware[];
  readonly #definition: ShortDefinition | AnyDefinition;
  readonly #byKey: ReadonlyMap<string, Step>;
  readonly #sessions: ReadonlyMap<string, NamedSession>;
  readonly #patterns: readonly (readonly [pattern: string, key: string])[];

  constructor(definition: ShortDefinition | AnyDefinition) {
    const problems = definitionProblems(definition);
    if (problems.length > 0)
      throw new ConfigurationError(problems.map((each) => `crawler ${nameIn(definition)}: ${each}`));
    this.#definition = definition;
    this.name = definition.name;
    this.secrets = definition.secrets ?? [];
    this.#sessions = sessionsOf(definition);
    this.middleware = inOrder(definition.middleware ?? []);
    this.accepts = definition.accepts ?? acceptsText;
    this.isStrict = definition.strictVersion === true;
    const isShort = 'step' in definition;
    this.pageFunction = isShort ? definition.step : undefined;
    this.args = isShort ? undefined : definition.args;
    this.seeds = isShort ? undefined : seedsOf(definition);
    this.steps = isShort ? [] : stepsOf(definition);
    this.patterns = isShort ? {} : patternsOf(definition);
    const { patterns } = this;
    const starts = [this.first?.name ?? '', ...Object.keys(patterns)];
    this.graph = new StepGraph(this.steps, starts);
    this.joins = isShort ? [] : joinsOf(definition);
    const planner = new JoinPlanner({ steps: this.steps, starts, joins: this.joins });
    const unsound = this.steps.length === 0 ? [] : [...this.graph.problems(), ...planner.problems()];
    if (unsound.length > 0) throw new ConfigurationError(unsound.map((each) => `crawler ${this.name}: ${each}`));
    this.joinPlan = planner.plan();
    this.#byKey = new Map((isShort ? [] : [...this.steps, FILE_STEP]).map((step) => [step.key, step]));
    this.#patterns = Object.entries(patterns).flatMap(([name, texts]) =>
      texts.map((pattern) => [pattern, keyOf(name, this.first)] as const),
    );
  }

  /**
   * Returns this crawler with the middleware of its folder added before its own.
   *
   * @throws ConfigurationError with every problem in that middleware
   */
  withMiddleware(folders: readonly Middleware[]): Crawler {
    const problems = middlewareProblems(folders);
    if (problems.length > 0) throw new ConfigurationError([...problems]);
    if (folders.length === 0) return this;
    return new Crawler({ ...this.#definition, middleware: [...folders, ...(this.#definition.middleware ?? [])] });
  }

  /** Returns the session in which a task's page is fetched; undefined for none. A file uses the session of the step that asked for it. */
  sessionOf({ step: key, kept }: Pick<Task, 'step' | 'kept'>): NamedSession | undefined {
    const chosen = fileAskedFor({ step: key, kept })?.session ?? this.step(key)?.session;
    return chosen === false ? undefined : this.#sessions.get(chosen ?? COMMON_SESSION);
  }

  /** The step where seeds start; undefined for a short crawler. */
  get first(): Step | undefined {
    return this.steps[0];
  }

  /** Returns whether answers of an error status are pages for a step, given by its name in tasks. */
  takes(key: string, status: number): boolean {
    const { statuses } = 'step' in this.#definition ? this.#definition : (this.step(key) ?? {});
    return isTakenStatus(statuses, status);
  }

  /** Returns whether the crawler has a function for tasks of this step. */
  hasStep(key: string): boolean {
    return this.pageFunction === undefined ? this.#byKey.has(key) : key === FIRST_STEP;
  }

  join(name: string): Join | undefined {
    return this.joins.find((join) => join.name === name);
  }

  /** Returns a step by its name in tasks, {@link FILE_STEP} included. */
  step(key: string): Step | undefined {
    return this.#byKey.get(key);
  }

  stepNamed(name: string): Step | undefined {
    return this.steps.find((step) => step.name === name);
  }

  /**
   * Returns whether a step's pattern matches a URL and is specific to that sort of page: `isOfSort` accepts the path and query of the
   * pattern, as for a sitemap and `/sitemap*.xml`. A pattern for a whole site isn't specific.
   */
  readsItself(href: string, isOfSort: (path: string) => boolean): boolean {
    return this.#patterns.some(
      ([pattern]) => isOfSort(pattern.replace(/^[^/?]*:\/\/[^/?]*/, '')) && matchesUrl(pattern, href),
    );
  }

  /** Returns the step, by its name in tasks, where a URL starts that no step has followed. */
  startOf(href: string): string {
    return this.#patterns.find(([pattern]) => matchesUrl(pattern, href))?.[1] ?? FIRST_STEP;
  }
}

/**
 * Defines a crawler: of several steps, see {@link Definition}, or of one function, see {@link ShortDefinition}. The compiler checks its
 * types; everything else is checked on loading.
 *
 * One signature, not an overload for each form: for overloads, TypeScript before 7 reports mistakes against the wrong form.
 */
export function defineCrawler<
  Names extends Record<string, unknown>,
  const To extends Record<string, unknown> = Record<never, never>,
  Keeps extends Record<string, unknown> = Record<never, never>,
  Items extends Record<string, unknown> = Record<never, never>,
  Args extends z.ZodObject = z.ZodObject<Record<never, never>>,
  JoinNames extends Record<string, unknown> = Record<string, unknown>,
  const Per extends Record<string, unknown> = Record<string, unknown>,
  JoinItems extends Record<string, unknown> = Record<string, unknown>,
  Sessions extends Record<string, unknown> = Record<never, never>,
>(
  definition:
    | (ShortDefinition & { readonly steps?: never })
    | (Definition<Args, Names, To, Keeps, Items, JoinNames, Per, JoinItems, Sessions> & { readonly step?: never }),
): Crawler {
  return new Crawler(definition as ShortDefinition | AnyDefinition);
}

/** Media types of text other than `text/…`. */
const TEXT = /^application\/(?:(?:[\w.-]+\+)?(?:xml|json|xhtml\+xml)|(?:x-)?(?:ndjson|jsonl|json-?lines|javascript))$/;

/** Returns whether a value is a crawler, from any copy of this package. */
export function isCrawler(value: unknown): value is Crawler {
  return isObject(value) && 'withMiddleware' in value && typeof value.withMiddleware === 'function';
}

/** Accepts pages whose media type is text, such as HTML, XML or JSON. Accepts a page without a type. */
export function acceptsText(contentType: string | undefined): boolean {
  const type = mediaTypeOf(contentType);
  if (type === undefined) return true;
  return type.startsWith('text/') || TEXT.test(type);
}

function nameIn(definition: unknown): string {
  const { name } = (definition ?? {}) as { readonly name?: unknown };
  return typeof name === 'string' ? name : 'without a name';
}

function joinsOf({ joins = {} }: AnyDefinition): Join[] {
  return Object.entries(joins as Readonly<Record<string, Omit<Join, 'name'>>>).map(([name, join]) => ({
    ...join,
    run: (context) => join.run(context),
    name,
  }));
}

function sessionsOf(definition: ShortDefinition | AnyDefinition): ReadonlyMap<string, NamedSession> {
  const { session } = definition;
  const { sessions = {} } = 'step' in definition ? {} : definition;
  const common = session === undefined ? {} : { [COMMON_SESSION]: session };
  const all = Object.entries({ ...common, ...(sessions as Readonly<Record<string, SessionDefinition>>) });
  return new Map(all.map(([name, each]) => [name, named(name, each)]));
}

/** Names a session. Its functions are still called as methods of the author's object, which may be an instance of a class. */
function named(name: string, session: SessionDefinition): NamedSession {
  const { isExpired } = session;
  return {
    ...session,
    name,
    login: (context) => session.login(context),
    ...(isExpired === undefined ? {} : { isExpired: (page) => isExpired.call(session, page) }),
  };
}

function seedsOf({ seeds }: AnyDefinition): Crawler['seeds'] {
  return Array.isArray(seeds) ? () => seeds : (seeds as Crawler['seeds']);
}

function patternsOf({ patterns = {} }: AnyDefinition): Readonly<Record<string, readonly string[]>> {
  const texts = patterns as Readonly<Record<string, string | readonly string[]>>;
  return Object.fromEntries(Object.entries(texts).map(([name, each]) => [name, [each].flat()]));
}

/** Returns a step's name in tasks. */
function keyOf(name: string, first: Step | undefined): string {
  return name === first?.name ? FIRST_STEP : name;
}

function stepsOf({ steps }: AnyDefinition): Step[] {
  return Object.entries(steps as Readonly<Record<string, Omit<Step, 'name' | 'key'>>>).map(([name, step], at) => ({
    ...step,
    run: (context) => step.run(context),
    name,
    key: at === 0 ? FIRST_STEP : name,
    to: step.to ?? [],
    ...intervalOf(step.rate),
  }));
}

function intervalOf(written: string | undefined): { intervalMs?: number } {
  const read = written === undefined ? undefined : rate()(written);
  return read !== undefined && 'value' in read ? { intervalMs: read.value } : {};
}
