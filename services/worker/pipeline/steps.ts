import type { Crawler, Step } from '../../../shared/crawler/crawler.ts';
import type { StepResult } from '../../../shared/crawler/definition.ts';
import { CrawlerFault } from '../../../shared/crawler/kept.ts';
import type { Page } from '../../../shared/crawler/page.ts';
import { type Places, placesIn } from '../../../shared/crawler/place.ts';
import { Statements } from '../../../shared/crawler/statement.ts';
import { type StepOutcome, StepRun } from '../../../shared/crawler/step-run.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { Failure } from '../../../shared/task/task/retry-policy.ts';

/** Knows which page's step occupies the event loop, so that a watchdog can name it when it ends a stuck process. */
export interface StepWatch {
  enter(url: string, step?: string): void;
  /** How long the step ran, in milliseconds, without time in which the process was suspended. */
  leave(): number;
}

export interface StepsOptions {
  /** The longest that a crawler may take over a page. */
  readonly stepTimeoutMs: number;
  readonly clock: Clock;
  /** Left out: no watchdog. */
  readonly watch?: StepWatch;
}

/** A crawler's function threw, took too long, or returned something that a step may not. Only this page fails. */
export class StepError extends Error {
  override readonly name = 'StepError';
  readonly code = 'ERR_STEP';
  readonly reason: CrawlerFault['reason'];
  /** File and line with the step, or the crawler with the step, if no line threw: failures of one place are counted together. */
  readonly place: string;

  constructor(place: string, said: string, cause: unknown) {
    super(`${place}: ${said}`.slice(0, MAX_MESSAGE_LENGTH), { cause });
    this.place = place;
    this.reason = cause instanceof CrawlerFault ? cause.reason : 'step';
  }
}

/** What a crawler made of a page. */
export interface Extract extends Pick<StepOutcome, 'follows' | 'unmet' | 'by'> {
  /** Of the record. */
  readonly data: unknown;
  /** How many items the data are; nothing for a short crawler. */
  readonly items?: number;
  /** What a short crawler names in the place of the page's links. */
  readonly links?: readonly string[] | undefined;
}

/** A crawler at work for a run. */
export interface CrawlerAtWork {
  readonly crawler: Crawler;
  /** The run's arguments, as the crawler's schema reads them. */
  readonly args: unknown;
  /** The crawler's name or file, as the run has it. */
  readonly options: { readonly crawler: string };
}

/** An asynchronous step that has not finished. */
interface Pending {
  turns: number;
  readonly giveUp: () => void;
}

/** The time limit is counted in this many turns, so that a suspension of the process costs a step only one of them. */
const TURNS = 10;
/** Lines of stack kept: frames of packages may stand above the crawler's own. */
const STACK_LINES = 50;
/** Characters kept of a crawler's error message. */
const MAX_MESSAGE_LENGTH = 2_000;

/** Calls the functions of crawlers, with a time limit. Their errors name step, file and line. */
export class Steps {
  readonly #options: StepsOptions;
  readonly #statements = new Statements();
  readonly #pending = new Set<Pending>();
  #idle: AbortController | undefined;

  constructor(options: StepsOptions) {
    this.#options = options;
  }

  /**
   * Has the crawler's function for a task read its page.
   *
   * @param takeOver a step in the place of the task's own
   * @throws StepError
   */
  async extract(
    { crawler, args, options }: CrawlerAtWork,
    page: Page,
    takeOver?: { readonly step: Step; readonly failure: Failure },
  ): Promise<Extract> {
    const { pageFunction } = crawler;
    const { url, step: key } = page.task;
    if (pageFunction !== undefined)
      return await this.#take({ crawler: options.crawler, url }, () => pageFunction.call(crawler, page), read);
    const step = takeOver?.step ?? crawler.step(key);
    if (step === undefined) throw new Error(`crawler ${crawler.name} has no step "${key}"`);
    const run = new StepRun(crawler, step, page, args, takeOver?.failure);
    return await this.#take(
      { crawler: options.crawler, step: step.name, url },
      () => run.begin(),
      (result) => outcomeOf(run, result),
      step.timeoutMs,
    );
  }

  /** @param timeoutMs of the step's own */
  async #take<T>(
    about: AboutCall,
    step: () => unknown,
    read: (result: unknown) => T,
    timeoutMs = this.#options.stepTimeoutMs,
  ): Promise<T> {
    const { watch } = this.#options;
    const linesBefore = Error.stackTraceLimit;
    let [result, ms]: [unknown, number] = [undefined, 0];
    try {
      Error.stackTraceLimit = STACK_LINES;
      watch?.enter(about.url, about.step);
      try {
        result = step();
      } finally {
        ms = watch?.leave() ?? 0;
        Error.stackTraceLimit = linesBefore;
      }
      if (isPromise(result)) result = await this.#inTime(result, timeoutMs);
      else if (ms > timeoutMs) throw this.#tooLong(timeoutMs);
      return read(result);
    } catch (error: unknown) {
      throw stepErrorOf(about, error, this.#statements);
    }
  }

  #inTime(promise: PromiseLike<unknown>, timeoutMs: number): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const turns = Math.ceil((TURNS * timeoutMs) / this.#options.stepTimeoutMs);
      const pending = { turns, giveUp: () => reject(this.#tooLong(timeoutMs)) };
      const over = (): void => {
        this.#pending.delete(pending);
        if (this.#pending.size === 0) this.#idle?.abort();
      };
      this.#pending.add(pending);
      if (this.#idle === undefined) void this.#count();
      promise.then(
        (result) => {
          over();
          resolve(result);
        },
        (error: unknown) => {
          over();
          reject(error);
        },
      );
    });
  }

  /** Counts turns while any step is pending. */
  async #count(): Promise<void> {
    const { clock, stepTimeoutMs } = this.#options;
    const idle = new AbortController();
    this.#idle = idle;
    while (!idle.signal.aborted) {
      await clock.sleep(stepTimeoutMs / TURNS, idle.signal);
      if (idle.signal.aborted) break;
      for (const pending of this.#pending) {
        // One turn more than TURNS, since the step began in the middle of its first.
        if (pending.turns-- > 0) continue;
        this.#pending.delete(pending);
        pending.giveUp();
      }
      if (this.#pending.size === 0) idle.abort();
    }
    this.#idle = undefined;
    if (this.#pending.size > 0) void this.#count();
  }

  #tooLong(timeoutMs: number): ProblemError {
    const where = timeoutMs === this.#options.stepTimeoutMs ? 'STEP_TIMEOUT' : 'timeoutMs of the step';
    return new ProblemError(`it took longer than ${timeoutMs / 1_000} s (${where})`);
  }
}

/** A problem that the worker found with a step from outside, so it has no line in the crawler. */
class ProblemError extends Error {
  override readonly name = 'ProblemError';
}

/** The call of a crawler's function. */
interface AboutCall {
  readonly crawler: string;
  /** Of a crawler with steps. */
  readonly step?: string;
  readonly url: string;
}

/** The failure of a crawler's function: its place, what is wrong, and the statement. The crawler is named where no line can be. */
export function stepErrorOf(
  { crawler, step }: Pick<AboutCall, 'crawler' | 'step'>,
  error: unknown,
  statements = new Statements(),
): StepError {
  const { crawler: line, source } = error instanceof ProblemError ? NO_PLACE : placesOf(error);
  const place = `${line ?? `crawler ${crawler}`}${step === undefined ? '' : `, step ${step}`}`;
  const statement = source === undefined ? undefined : statements.at(source);
  return new StepError(place, `${sentenceOf(error)}${statement === undefined ? '' : `, in \`${statement}\``}`, error);
}

const NO_PLACE: Places = { crawler: undefined, any: undefined };

function placesOf(error: unknown): Places {
  try {
    return error instanceof Error ? placesIn(String(error.stack)) : NO_PLACE;
  } catch {
    return NO_PLACE;
  }
}

/** A sentence for any thrown value; even reading an error may throw. */
function sentenceOf(error: unknown): string {
  try {
    if (error instanceof ProblemError || error instanceof CrawlerFault) return error.message;
    if (!(error instanceof Error)) return `it threw ${typeof error === 'string' ? `'${error}'` : String(error)}`;
    return error.name === 'Error' && error.message !== '' ? error.message : String(error);
  } catch {
    return 'it threw a value without a message';
  }
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

/** What a step came to whose function has ended. */
function outcomeOf(run: StepRun, returned: unknown): Extract {
  if (returned !== undefined)
    throw new ProblemError(`expected a step to return nothing, got ${kindOf(returned)}: emit what is to be kept`);
  const { items, ...rest } = run.end();
  return { ...rest, data: items.length > 1 ? items : (items[0] ?? null), items: items.length };
}

/** What the function of a short crawler returned. */
function read(result: unknown): Extract {
  return { ...checked(result), follows: [], unmet: [] };
}

/** Checks what a function returned, reading each property once. */
function checked(result: unknown): Pick<Extract, 'data' | 'links'> {
  if (typeof result !== 'object' || result === null || Array.isArray(result)) {
    throw new ProblemError(`expected a step to return { data, links }, got ${kindOf(result)}`);
  }
  const { data, links } = result as StepResult;
  if (isPromise(data)) throw new ProblemError('expected data to be a value, got a promise: await it');
  if (links === undefined) return { data };
  if (!Array.isArray(links)) throw new ProblemError(`expected links to be a list of strings, got ${kindOf(links)}`);
  const at = links.findIndex((link) => typeof link !== 'string');
  if (at < 0) return { data, links };
  throw new ProblemError(`expected links to be a list of strings, got ${kindOf(links[at])} at ${at}`);
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'undefined';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
