import type { StepResult } from '../../../shared/crawler/crawler.ts';
import { placesIn } from '../../../shared/crawler/place.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';

/** Knows which page has the process to itself, for whoever has to end a process that is stuck. */
export interface StepWatch {
  enter(url: string): void;
  /** How long it was there, in milliseconds in which the process ran. */
  leave(): number;
}

export interface StepsOptions {
  /** The longest that a crawler may take over a page. */
  readonly stepTimeoutMs: number;
  readonly clock: Clock;
  /** Left out: no watchdog. */
  readonly watch?: StepWatch;
}

/** A crawler's function threw, took too long, or gave back what a step must not. The page fails, and no other does. */
export class StepError extends Error {
  override readonly name = 'StepError';
  readonly code = 'ERR_STEP';
}

/** A page's step, waited for. */
interface Pending {
  turns: number;
  readonly giveUp: () => void;
}

/** Its time is counted in this many turns, each at least that part of it: a process that was suspended loses one. */
const TURNS = 10;
/** Lines of a stack: the packages that a crawler uses may stand above its own. */
const STACK_LINES = 50;
/** Characters of what a crawler said of its failure that are kept. */
const MAX_MESSAGE_LENGTH = 2_000;

/** Calls the functions of crawlers. Each comes to an end in time, and what it did wrong is said with file and line. */
export class Steps {
  readonly #options: StepsOptions;
  readonly #pending = new Set<Pending>();
  #idle: AbortController | undefined;

  constructor(options: StepsOptions) {
    this.#options = options;
  }

  /**
   * What `step` makes of a page.
   *
   * @param crawler its file in `crawlers/`, without .ts
   * @throws StepError
   */
  async take(crawler: string, url: string, step: () => unknown): Promise<StepResult> {
    const { stepTimeoutMs, watch } = this.#options;
    const linesBefore = Error.stackTraceLimit;
    let [result, ms]: [unknown, number] = [undefined, 0];
    try {
      Error.stackTraceLimit = STACK_LINES;
      watch?.enter(url);
      try {
        result = step();
      } finally {
        ms = watch?.leave() ?? 0;
        Error.stackTraceLimit = linesBefore;
      }
      if (isPromise(result)) result = await this.#inTime(result);
      else if (ms > stepTimeoutMs) throw this.#tooLong();
      return checked(result);
    } catch (error: unknown) {
      throw stepErrorOf(crawler, error);
    }
  }

  #inTime(promise: PromiseLike<unknown>): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const pending = { turns: TURNS, giveUp: () => reject(this.#tooLong()) };
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

  /** Counts turns while a step is waited for. */
  async #count(): Promise<void> {
    const { clock, stepTimeoutMs } = this.#options;
    const idle = new AbortController();
    this.#idle = idle;
    while (!idle.signal.aborted) {
      await clock.sleep(stepTimeoutMs / TURNS, idle.signal);
      if (idle.signal.aborted) break;
      for (const pending of this.#pending) {
        // The first turn was under way when it began.
        if (pending.turns-- > 0) continue;
        this.#pending.delete(pending);
        pending.giveUp();
      }
      if (this.#pending.size === 0) idle.abort();
    }
    this.#idle = undefined;
    if (this.#pending.size > 0) void this.#count();
  }

  #tooLong(): ProblemError {
    return new ProblemError(`it took longer than ${this.#options.stepTimeoutMs / 1_000} s (STEP_TIMEOUT)`);
  }
}

/** What is wrong with a step, seen from outside: it has no line. */
class ProblemError extends Error {
  override readonly name = 'ProblemError';
}

/** The failure of a crawler's function: where and what. */
export function stepErrorOf(crawler: string, error: unknown): StepError {
  const file = `crawlers/${crawler}.ts`;
  const place = error instanceof ProblemError ? undefined : placeOf(error);
  return new StepError(`${place ?? file}: ${sentenceOf(error)}`.slice(0, MAX_MESSAGE_LENGTH), { cause: error });
}

function placeOf(error: unknown): string | undefined {
  try {
    return error instanceof Error ? placesIn(String(error.stack)).crawler : undefined;
  } catch {
    return undefined;
  }
}

/** Reads whatever was thrown: even reading an error may throw. */
function sentenceOf(error: unknown): string {
  try {
    if (error instanceof ProblemError) return error.message;
    if (!(error instanceof Error)) return `it threw ${typeof error === 'string' ? `'${error}'` : String(error)}`;
    return error.name === 'Error' && error.message !== '' ? error.message : String(error);
  } catch {
    return 'it threw a value without a message';
  }
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

/** What a step gave back, read once. */
function checked(result: unknown): StepResult {
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
