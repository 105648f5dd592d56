import { isObject } from '../../task/is-object.ts';
import { shortened } from '../../task/shortened.ts';
import type { Failure } from '../../task/task/retry-policy.ts';
import type { Crawler, Step } from '../crawler.ts';
import type { StepResult } from '../definition.ts';
import { type AboutCall, ProblemError } from '../failures/step-error.ts';
import { itemAsJson } from '../items/item.ts';
import { recordItems } from '../items/record-items.ts';
import type { Page } from '../page.ts';
import { type StepOutcome, StepRun } from '../step-run.ts';

/** The result of a crawler for a page. */
export interface Extract extends Pick<StepOutcome, 'follows' | 'unmet' | 'by'> {
  /** The record's data. */
  readonly data: unknown;
  /** Number of items in the data; missing for a short crawler. */
  readonly items?: number;
  /** Links that a short crawler returns in place of the page's own. */
  readonly links?: readonly string[] | undefined;
}

/** A crawler at work for a run. */
export interface CrawlerAtWork {
  readonly crawler: Crawler;
  /** The run's arguments, parsed by the crawler's schema. */
  readonly args: unknown;
  /** The crawler's name or file, as in the run's options. */
  readonly options: { readonly crawler: string };
}

/** One call of a crawler's function. The caller awaits the result of `begin`, and passes errors through `stepErrorOf`. */
export interface Reading {
  readonly about: AboutCall;
  /** The step's own limit, in milliseconds. */
  readonly timeoutMs: number | undefined;
  begin(): unknown;
  /**
   * Returns the result of the call.
   *
   * @param result the value that `begin` returned or resolved with
   * @throws ProblemError if the value isn't allowed, CrawlerFault if the step asked for something that can't be done
   */
  end(result: unknown): Extract;
}

/** A step that takes over from a task's own, which failed. */
export interface TakeOver {
  readonly step: Step;
  readonly failure: Failure;
}

/** Prepares the call of the crawler's function for a page: the task's step, or the fallback in `takeOver`. */
export function readingOf({ crawler, args, options }: CrawlerAtWork, page: Page, takeOver?: TakeOver): Reading {
  const { pageFunction } = crawler;
  if (pageFunction !== undefined)
    return {
      about: { crawler: options.crawler },
      timeoutMs: undefined,
      begin: () => pageFunction.call(crawler, page),
      end: (result) => ({ ...checked(result), follows: [], unmet: [] }),
    };
  const step = takeOver?.step ?? crawler.step(page.task.step);
  if (step === undefined) throw new Error(`crawler ${crawler.name} has no step "${page.task.step}"`);
  const run = new StepRun(crawler, step, page, args, takeOver?.failure);
  return {
    about: { crawler: options.crawler, step: step.name },
    timeoutMs: step.timeoutMs,
    begin: () => run.begin(),
    end: (result) => outcomeOf(run, result),
  };
}

export function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

/** Returns the result of a step whose function has ended. */
function outcomeOf(run: StepRun, returned: unknown): Extract {
  if (returned !== undefined) {
    const mend = kindOf(returned) === GENERATOR ? 'call emit and follow where it yields' : 'emit what is to be kept';
    throw new ProblemError(`expected a step to return nothing, got ${kindOf(returned)}: ${mend}`);
  }
  const { items, ...rest } = run.end();
  return { ...rest, ...recordItems(items) };
}

/** Checks what the function of a short crawler returned, reading each property once. */
function checked(result: unknown): Pick<Extract, 'data' | 'links'> {
  if (!isObject(result)) throw new ProblemError(`${EXPECTED}, got ${kindOf(result)}`);
  if (kindOf(result) === GENERATOR)
    throw new ProblemError(`${EXPECTED}, got a generator: return what it would yield, { data: […] }`);
  const others = Object.keys(result).filter((key) => key !== 'data' && key !== 'links');
  if (others.length > 0) throw new ProblemError(`${EXPECTED}, got ${otherKeys(others, result)}`);
  const { data: given, links } = result as StepResult;
  if (isPromise(given)) throw new ProblemError('expected data to be a value, got a promise: await it');
  const data = itemAsJson(given, 'data');
  if (links === undefined) return { data };
  if (!Array.isArray(links)) throw new ProblemError(`expected links to be a list of strings, got ${kindOf(links)}`);
  const at = links.findIndex((link) => typeof link !== 'string');
  if (at < 0) return { data, links };
  throw new ProblemError(`expected links to be a list of strings, got ${kindOf(links[at])} at ${at}`);
}

const EXPECTED = 'expected a step to return { data, links }';
/** Maximum fields that a message names. */
const MOST_NAMED = 4;
const LONGEST_NAMED = 50;

/** Describes further fields that a step returned, which would be lost, and says where to put them. */
function otherKeys(keys: readonly string[], result: object): string {
  const isCut = keys.length > MOST_NAMED;
  const named = keys.slice(0, MOST_NAMED).map((key) => shortened(key, LONGEST_NAMED));
  const mend = 'put what is to be kept in data';
  if ('data' in result || 'links' in result) return `an object with ${named.join(', ')}, too: ${mend}`;
  if (isCut) return `an object with ${named.join(', ')}, … (${keys.length}): ${mend}`;
  return `an object with ${named.join(', ')}: ${mend}, { data: { ${named.join(', ')} } }`;
}

const GENERATOR = 'a generator';

/** Describes an unexpected value for a message. */
export function kindOf(value: unknown): string {
  if (value === undefined) return 'undefined';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (/^\[object (?:Async)?Generator\]$/.test(Object.prototype.toString.call(value))) return GENERATOR;
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
