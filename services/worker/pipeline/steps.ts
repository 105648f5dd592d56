import {
  type CrawlerAtWork,
  type Extract,
  isPromise,
  readingOf,
  type TakeOver,
} from '../../../shared/crawler/document/reading.ts';
import { Statements } from '../../../shared/crawler/failures/statement.ts';
import { type AboutCall, ProblemError, STACK_LINES, stepErrorOf } from '../../../shared/crawler/failures/step-error.ts';
import type { Page } from '../../../shared/crawler/page.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';

/** Tracks the page whose step occupies the event loop, so that a watchdog can name it when it ends a stuck process. */
export interface StepWatch {
  enter(url: string, step?: string): void;
  /** Returns how long the step ran, in milliseconds, without time in which the process was suspended. */
  leave(): number;
}

export interface StepsOptions {
  /** Time limit for a crawler's work on one page. */
  readonly stepTimeoutMs: number;
  readonly clock: Clock;
  /** If left out, there is no watchdog. */
  readonly watch?: StepWatch;
}

/** The settings for a call of a crawler's function. */
export interface Call {
  readonly about: AboutCall;
  /** URL of the page. */
  readonly url: string;
  /** The call's own limit, in milliseconds. */
  readonly timeoutMs?: number | undefined;
  /** The setting that gives that limit, as errors name it. */
  readonly limit?: string;
}

/** An asynchronous step that has not finished. */
interface Pending {
  turns: number;
  readonly giveUp: () => void;
}

/** Number of turns in which the time limit is counted, so that a suspension of the process costs a step only one of them. */
const TURNS = 10;

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
   * Calls the crawler's function for a task with its page. Rejects with a StepError.
   *
   * @param takeOver a step that replaces the task's own
   */
  extract(work: CrawlerAtWork, page: Page, takeOver?: TakeOver): Promise<Extract> {
    const { about, timeoutMs, ...reading } = readingOf(work, page, takeOver);
    const how = { about, url: page.task.url, timeoutMs };
    return this.call(
      how,
      () => reading.begin(),
      (result) => reading.end(result),
    );
  }

  /**
   * Calls a function of a crawler.
   *
   * @param end checks the value that it returned or resolved with
   * @throws StepError
   */
  async call<T>({ about, url, ...how }: Call, begin: () => unknown, end: (result: unknown) => T): Promise<T> {
    const { watch, stepTimeoutMs } = this.#options;
    const { timeoutMs = stepTimeoutMs } = how;
    const linesBefore = Error.stackTraceLimit;
    let [result, ms]: [unknown, number] = [undefined, 0];
    try {
      Error.stackTraceLimit = STACK_LINES;
      watch?.enter(url, about.step ?? about.part);
      try {
        result = begin();
      } finally {
        ms = watch?.leave() ?? 0;
        Error.stackTraceLimit = linesBefore;
      }
      if (isPromise(result)) result = await this.#inTime(result, timeoutMs, how.limit);
      else if (ms > timeoutMs) throw this.#tooLong(timeoutMs, how.limit);
      return end(result);
    } catch (error: unknown) {
      throw stepErrorOf(about, error, this.#statements);
    }
  }

  #inTime(promise: PromiseLike<unknown>, timeoutMs: number, limit?: string): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const turns = Math.ceil((TURNS * timeoutMs) / this.#options.stepTimeoutMs);
      const pending = { turns, giveUp: () => reject(this.#tooLong(timeoutMs, limit)) };
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
        // One turn more than TURNS, since the step began partway through its first.
        if (pending.turns-- > 0) continue;
        this.#pending.delete(pending);
        pending.giveUp();
      }
      if (this.#pending.size === 0) idle.abort();
    }
    this.#idle = undefined;
    if (this.#pending.size > 0) void this.#count();
  }

  #tooLong(timeoutMs: number, limit = 'timeoutMs of the step'): ProblemError {
    const where = timeoutMs === this.#options.stepTimeoutMs ? 'STEP_TIMEOUT' : limit;
    return new ProblemError(`it took longer than ${timeoutMs / 1_000} s (${where})`);
  }
}
