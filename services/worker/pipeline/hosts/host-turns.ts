import { CookieJar } from '../../../../shared/cookies/cookie-jar.ts';
import { acceptsText } from '../../../../shared/crawler/crawler.ts';
import { StepError, stepErrorOf } from '../../../../shared/crawler/failures/step-error.ts';
import { fileAskedFor } from '../../../../shared/crawler/file-step.ts';
import type { HostSends } from '../../../../shared/loops/host-sends.ts';
import { SlotWait } from '../../../../shared/loops/slot-wait.ts';
import {
  FetchError,
  type FetchedPage,
  type Fetcher,
  type PageHold,
  type PageRequest,
  type RequestTimings,
} from '../../../../shared/ports/fetcher.ts';
import type { HostGate, HostLimit } from '../../../../shared/ports/host-gate.ts';
import type { Observer, StageObserver } from '../../../../shared/ports/observer.ts';
import type { Clock } from '../../../../shared/runtime/clock.ts';
import type { FetchFailure } from '../../../../shared/task/task/fetch-failure.ts';
import {
  type Circumstances,
  type Judgement,
  judgeAnswer,
  judgeFailure,
  judgeTaken,
  MOST_THROTTLES,
} from '../../../../shared/task/task/judgement.ts';
import type { SentRequest } from '../../../../shared/task/task/request.ts';
import { isErrorStatus } from '../../../../shared/task/task/taken-statuses.ts';
import { verdictOf } from '../../../../shared/task/task/verdict.ts';
import { redirectOf } from '../../../../shared/task/url/redirect.ts';
import type { Slots } from '../../concurrency/slots.ts';
import type { Sessions } from '../../sessions/sessions.ts';
import { fateAfter } from '../fate.ts';
import { followed } from '../redirects.ts';
import { validatorsFor } from '../revisit.ts';
import {
  type Arrival,
  cookiesOf,
  type Ending,
  failedStep,
  hostOf,
  loginOf,
  type Move,
  mostAttempts,
  stepOf,
  urlOf,
  type Visit,
} from '../visit.ts';

export interface HostTurnsOptions {
  readonly sessions: Pick<Sessions, 'isExpired'>;
  readonly gate: HostGate;
  /** See {@link SlotWait}. */
  readonly sends?: HostSends;
  readonly fetcher: Fetcher;
  readonly maxBodyBytes: number;
  readonly maxRedirects: number;
  readonly hostConcurrency: number;
  /** Observes how long requests wait for their host. */
  readonly observer?: (Observer & StageObserver) | undefined;
  /** Counts the tasks in hand that wait for a place at their host. */
  readonly slots: Pick<Slots, 'noteInLine'>;
  readonly clock: Clock;
  readonly random: () => number;
  readonly signal: AbortSignal;
}

/** The result of one request: a page, an outcome, an ended session, or a redirect. */
export type Answered =
  | { readonly arrival: Arrival }
  | { readonly ending: Ending }
  | { readonly isExpired: true }
  | Move;

/** The result of one hop. */
export type Hop =
  | (Answered & { readonly left?: Promise<void>; readonly isSent?: boolean })
  | { readonly laterMs: number };

/** The settings of a request for a page. */
export interface Asking {
  readonly crawlDelayMs: number;
  readonly pausedMs: number | undefined;
  readonly send: SentRequest | undefined;
  /** Aborted when the worker stops, or when the request must make room for another. */
  readonly signal: AbortSignal;
}

/** Time for which a slot rests when the page could not be requested because this machine had no socket, proxy or network. */
const REST_MS = 2_000;
const OUR_SHORTAGES: ReadonlySet<FetchFailure> = new Set(['exhausted', 'proxy', 'network']);

/** Makes single requests for pages, each in its host's turn. */
export class HostTurns {
  readonly #options: HostTurnsOptions;
  readonly #slots: SlotWait;

  constructor(options: HostTurnsOptions) {
    this.#options = options;
    this.#slots = new SlotWait({ ...options, onLine: (by) => options.slots.noteInLine(by) });
  }

  /** Makes one request in its host's turn. */
  async ask(visit: Visit, { crawlDelayMs, pausedMs, send, signal }: Asking, hold: PageHold): Promise<Hop> {
    const { fetcher, hostConcurrency } = this.#options;
    const host = hostOf(visit);
    await fetcher.prepare(urlOf(visit), signal);
    const intervalMs = Math.max(visit.run.options.intervalMs, crawlDelayMs, stepOf(visit)?.intervalMs ?? 0);
    const limit: HostLimit = { intervalMs, concurrency: hostConcurrency };
    const { holder } = visit;
    const isTakenOver = visit.state.starts > 1;
    const slot = await this.#slots.tryAcquire({ host, holder, limit, pausedMs, signal, isTakenOver });
    if (!slot.go) return { laterMs: slot.inMs };
    const { turn } = slot;
    let fetched: Answered | undefined;
    let left: Promise<void>;
    try {
      fetched = await this.#fetch(visit, { signal, hold, timings: turn.timings }, send);
    } finally {
      // If this fails, the place becomes free when its lease ends.
      left = turn.over({ isFailure: fetched === undefined || isFailure(fetched) }).catch(() => {});
    }
    if (!('to' in fetched)) return { ...fetched, left, isSent: turn.timings.isSent };
    await left;
    return fetched;
  }

  async #fetch(
    visit: Visit,
    request: Required<Pick<PageRequest, 'signal' | 'hold' | 'timings'>>,
    send: SentRequest | undefined,
  ): Promise<Answered> {
    const { fetcher, maxRedirects, clock } = this.#options;
    const maxBodyBytes = fileAskedFor(visit.task)?.maxBytes ?? this.#options.maxBodyBytes;
    const broken: StepError[] = [];
    const accepts = (contentType: string | undefined): boolean => {
      const wanted = wants(visit, contentType);
      if (typeof wanted !== 'boolean') broken.push(wanted);
      return wanted === true;
    };
    const url = urlOf(visit);
    const askedAt = clock.now();
    const validators = validatorsFor(visit);
    const cookies: string[] = [];
    const { session } = visit;
    const lines = cookiesOf(visit);
    const jar = session?.jar ?? (lines === undefined ? undefined : await CookieJar.of(lines));
    const cookie = jar?.headerFor(url);
    try {
      const fetched = await fetcher.fetch({
        ...{ ...request, url, maxBodyBytes, accepts, takes: (status) => takes(visit, status) },
        ...(validators === undefined ? {} : { validators }),
        ...(send === undefined ? {} : { send }),
        redirectedFrom: visit.task.url,
        login: loginOf(visit, url),
        ...(cookie === undefined ? {} : { cookie }),
        onCookies: (lines) => cookies.push(...lines),
      });
      const { status } = fetched;
      if (session !== undefined) {
        await session.jar.keep(url, cookies);
        if (this.#options.sessions.isExpired(visit, fetched)) return { isExpired: true };
      }
      const redirect = redirectOf(status, fetched.headers.location, url);
      if (redirect !== undefined) {
        const set = cookies.length === 0 || session !== undefined ? {} : { cookies };
        return await followed(visit, redirect, { maxRedirects, status, ...set });
      }
      if (broken[0] !== undefined) return { ending: { ...failedStep(broken[0]), status, askedAt } };
      const { outcome, ...host } = this.#judge(visit, fetched, { isUnconditional: validators === undefined, send });
      return outcome.kind === 'done'
        ? { arrival: { fetched, fromCache: false, askedAt, ...(isErrorStatus(status) ? { host } : {}) } }
        : { ending: { outcome, ...host, status, answer: fetched, askedAt } };
    } catch (error: unknown) {
      if (error instanceof StepError) return { ending: { ...failedStep(error), askedAt } };
      if (!(error instanceof FetchError)) throw error;
      if (broken[0] !== undefined) return { ending: { ...failedStep(broken[0]), status: error.status, askedAt } };
      return { ending: { ...(await this.failed(visit, error, { send, timings: request.timings })), askedAt } };
    }
  }

  /** Judges an answer. An error whose step takes it, but whose body is missing, counts as one that no step takes. */
  #judge(
    visit: Visit,
    fetched: FetchedPage,
    { isUnconditional, send }: { readonly isUnconditional: boolean; readonly send: SentRequest | undefined },
  ): Judgement {
    const { status, unread } = fetched;
    if (unread === undefined && takes(visit, status)) return judgeTaken(fetched, this.#options.clock.now());
    const circumstances = this.#circumstances(visit);
    const judged = judgeAnswer(fetched, { ...circumstances, isUnconditional });
    const { outcome } = judged;
    if (unread === undefined || outcome.kind !== 'failed') return judged;
    const byBody = judgeFailure(unread, circumstances);
    const isAgain = byBody.outcome.kind === 'retry' || byBody.outcome.kind === 'defer';
    if (isAgain && send?.mayRepeat !== false) return byBody;
    return { ...judged, outcome: { ...outcome, detail: `HTTP ${status}, not taken as a page: ${unread.message}` } };
  }

  /** Returns the ending of a request that got no answer. */
  async failed(
    visit: Visit,
    error: FetchError,
    asked?: { readonly send: SentRequest | undefined; readonly timings: RequestTimings },
  ): Promise<Ending> {
    const { clock, signal } = this.#options;
    // Its slot stays taken meanwhile, so fewer requests are open at once.
    if (OUR_SHORTAGES.has(error.reason)) await clock.sleep(REST_MS, signal);
    const judged = judgeFailure(error, this.#circumstances(visit));
    return { ...(asked === undefined ? judged : fateAfter(asked.send, judged, asked.timings)), status: error.status };
  }

  #circumstances(visit: Visit): Circumstances {
    const { state, answersOthers = false } = visit;
    const { clock, random } = this.#options;
    const about = {
      attempts: state.attempts,
      maxAttempts: mostAttempts(visit),
      answersOthers,
      now: clock.now(),
      random: random(),
    };
    // Without a ledger there is nowhere to wait for another attempt, so an outcome that needs one becomes a failure and is dead-lettered.
    return { ...about, throttles: visit.release === 0 ? MOST_THROTTLES : visit.state.throttles };
  }
}

/** Returns whether an answer says nothing about how fast its host gives pages. */
function isFailure(answered: Answered): boolean {
  return 'ending' in answered || ('arrival' in answered && isErrorStatus(answered.arrival.fetched.status));
}

/** Returns whether the step takes errors of this status as pages. */
function takes({ run, task }: Visit, status: number): boolean {
  return run.crawler.takes(task.step, status);
}

/** Returns whether the crawler accepts pages of this type. A file can have any. */
export function wants({ run, task }: Visit, contentType: string | undefined): boolean | StepError {
  if (fileAskedFor(task) !== undefined) return true;
  try {
    return verdictOf((run.crawler.accepts ?? acceptsText)(contentType), 'accepts');
  } catch (error: unknown) {
    return stepErrorOf({ crawler: run.options.crawler }, error);
  }
}
