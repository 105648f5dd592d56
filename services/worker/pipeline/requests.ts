import { acceptsText } from '../../../shared/crawler/crawler.ts';
import { SlotWait } from '../../../shared/loops/slot-wait.ts';
import { FetchError, type Fetcher, type PageHold, type PageRequest } from '../../../shared/ports/fetcher.ts';
import type { HostGate, HostLimit } from '../../../shared/ports/host-gate.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { RobotsRules } from '../../../shared/task/robots/robots-match.ts';
import type { FetchFailure } from '../../../shared/task/task/fetch-failure.ts';
import { type Circumstances, judgeAnswer, judgeFailure, MOST_THROTTLES } from '../../../shared/task/task/judgement.ts';
import { redirectOf } from '../../../shared/task/url/redirect.ts';
import type { Slots } from '../concurrency/slots.ts';
import { followed, isInScope, outOfScope } from './redirects.ts';
import { validatorsFor } from './revisit.ts';
import type { Candidate, Permission, Robots } from './robots.ts';
import { SilentHosts } from './silent-hosts.ts';
import { type StepError, stepErrorOf } from './steps.ts';
import { type Arrival, type Ending, failedStep, hostOf, loginOf, redirected, urlOf, type Visit } from './visit.ts';

export interface RequestsOptions {
  readonly gate: HostGate;
  readonly fetcher: Fetcher;
  /** Left out, the rules of robots.txt are ignored. */
  readonly robots?: Robots | undefined;
  readonly maxBodyBytes: number;
  readonly maxRedirects: number;
  readonly hostConcurrency: number;
  readonly slots: Pick<Slots, 'total' | 'noteShortage'>;
  readonly clock: Clock;
  readonly random: () => number;
  readonly signal: AbortSignal;
}

/** What is known of a page before anybody is asked for it. */
export interface Known {
  readonly rules: RobotsRules | undefined;
  readonly arrival: Arrival | undefined;
  /** How long its host is still paused. */
  readonly pausedMs?: number;
}

/** What a visit's requests came to. Redirects may have led it on: `visit` says where to. */
export type Requested = { readonly visit: Visit } & (
  | { readonly arrival: Arrival; readonly left?: Promise<void> }
  | { readonly ending: Ending; readonly left?: Promise<void> }
  /** Milliseconds to wait before asking again. */
  | { readonly laterMs: number }
);

/** The result of one request: a page, an outcome, or where it is redirected to. */
type Answered =
  | { readonly arrival: Arrival }
  | { readonly ending: Ending }
  | { readonly to: string; readonly login?: string };

/** How long pages of hosts that never answered wait while too many hosts are silent. */
const SILENT_WAITS_MS = 3_000;
/** How long those of one wait whose request had to make room for another host. */
const CUT_SHORT_WAITS_MS = 15_000;

/** The result of one hop. */
type Hop = (Answered & { readonly left?: Promise<void> }) | { readonly laterMs: number };

/** A hop's host has answered, if only with its robots.txt. */
interface Spoke {
  readonly spoke: boolean;
}

/** What is known before a hop. */
interface Reach {
  readonly rules: RobotsRules | undefined;
  readonly arrival: Arrival | undefined;
  readonly pausedMs: number | undefined;
}

/** How a page is asked for. */
interface Asking {
  readonly crawlDelayMs: number;
  readonly pausedMs: number | undefined;
  /** Aborted when the worker stops, or when the request must make room. */
  readonly signal: AbortSignal;
}

/** How long a slot rests when the page could not be asked for: this machine had no socket for it, no proxy, or no network. */
const REST_MS = 2_000;
const OUR_SHORTAGES: ReadonlySet<FetchFailure> = new Set(['exhausted', 'proxy', 'network']);

/** Where robots.txt is ignored. */
const FREE: Permission = { kind: 'allow', intervalMs: 0, asked: false };

/**
 * Asks for a task's page: robots.txt → gate → fetch, and the same again for each redirect, whose hop has a robots.txt, a
 * host and a turn of its own. Of a response that is cached, where it led is looked at in the same way, but asks nobody.
 */
export class Requests {
  readonly #options: RequestsOptions;
  readonly #slots: SlotWait;
  readonly #silent: SilentHosts;

  constructor(options: RequestsOptions) {
    this.#options = options;
    this.#slots = new SlotWait(options);
    const { slots } = options;
    this.#silent = new SilentHosts({ slots: () => slots.total, onShortage: () => slots.noteShortage() });
  }

  /**
   * `left` in the answer: its place at the host is free again. That need not be waited for before the page is read.
   *
   * @param hold of the page's bytes
   */
  async make(visit: Visit, { rules, arrival, pausedMs = 0 }: Known, hold: PageHold): Promise<Requested> {
    const { robots } = this.#options;
    let [hop, known, paused]: [Visit, RobotsRules | undefined, number | undefined] = [visit, rules, pausedMs];
    for (;;) {
      const { spoke, ...asked } = await this.#reach(hop, { rules: known, arrival, pausedMs: paused }, hold);
      if (spoke) hop = { ...hop, spoke };
      // What is cached was asked for by another: its redirects are none of this visit's.
      if ('arrival' in asked && arrival !== undefined) return { visit, ...asked };
      if (!('to' in asked)) return { visit: hop, ...asked };
      hop = redirected(hop, asked.to, asked.login);
      // Admission knew the first host only.
      [known, paused] = [await robots?.look(asked.to), undefined];
    }
  }

  /** One hop: what its robots.txt says, and then its page. */
  async #reach(hop: Visit, { rules, arrival, pausedMs }: Reach, hold: PageHold): Promise<Hop & Spoke> {
    const { robots } = this.#options;
    const host = hostOf(hop);
    if (arrival === undefined && !this.#silent.mayAsk(host)) return { laterMs: SILENT_WAITS_MS, spoke: false };
    const first = this.#silent.begin(host);
    const signal = first === undefined ? this.#options.signal : AbortSignal.any([this.#options.signal, first.signal]);
    try {
      const permission = (await robots?.permit(this.#candidate(hop, signal), rules)) ?? FREE;
      const spoke = 'asked' in permission && permission.asked;
      if (first?.signal.aborted) return { laterMs: CUT_SHORT_WAITS_MS, spoke };
      const hasRules = permission.kind === 'allow' || permission.kind === 'skip';
      if (robots !== undefined && rules === undefined && hasRules) first?.answered();
      if (permission.kind !== 'allow') return { ...(await this.#refused(hop, permission)), spoke };
      if (arrival !== undefined) return { ...(await this.#recall(hop, arrival)), spoke };
      const asked = await this.#ask(hop, { crawlDelayMs: permission.intervalMs, pausedMs, signal }, hold);
      const hasAnswered =
        'arrival' in asked || 'to' in asked || ('ending' in asked && asked.ending.status !== undefined);
      if (hasAnswered) first?.answered();
      return { ...(first?.signal.aborted && !hasAnswered ? { laterMs: CUT_SHORT_WAITS_MS } : asked), spoke };
    } finally {
      first?.end();
    }
  }

  /** A cached response: another run's response must not bypass this run's scope or its crawler's content types. */
  async #recall(visit: Visit, arrival: Arrival): Promise<Answered> {
    const { finalUrl, headers } = arrival.fetched;
    if (finalUrl !== urlOf(visit)) {
      if (await isInScope(visit, finalUrl)) return { to: finalUrl };
      return { ending: { outcome: outOfScope(finalUrl) } };
    }
    const contentType = headers['content-type'];
    const wanted = wants(visit, contentType);
    if (wanted === true) return { arrival };
    if (wanted !== false) return { ending: { ...failedStep(wanted), hostAnswered: undefined } };
    const detail = `The answer is ${contentType ?? 'of no content type'}`;
    return { ending: { outcome: { kind: 'skipped', reason: 'content_type', detail } } };
  }

  #candidate(visit: Visit, signal: AbortSignal): Candidate {
    const { intervalMs } = visit.run.options;
    return { url: urlOf(visit), host: hostOf(visit), intervalMs, signal };
  }

  /** What becomes of a page that is not fetched, or not now, because of its robots.txt. */
  async #refused(
    visit: Visit,
    refusal: Exclude<Permission, { kind: 'allow' }>,
  ): Promise<{ ending: Ending } | { laterMs: number }> {
    switch (refusal.kind) {
      case 'skip': {
        const { reason, detail, asked } = refusal;
        return { ending: { outcome: { kind: 'skipped', reason, detail }, hostAnswered: asked || undefined } };
      }
      case 'fail':
        return { ending: await this.#failed(visit, refusal.error) };
      case 'unreachable': {
        const { reason, trouble } = refusal;
        return { ending: { outcome: { kind: 'defer', detail: reason }, hostAnswered: false, hostTrouble: trouble } };
      }
      case 'later':
        return { laterMs: refusal.inMs };
    }
  }

  /** One request, in its host's turn. */
  async #ask(visit: Visit, { crawlDelayMs, pausedMs, signal }: Asking, hold: PageHold): Promise<Hop> {
    const { fetcher, hostConcurrency } = this.#options;
    const host = hostOf(visit);
    await fetcher.prepare(urlOf(visit), signal);
    const intervalMs = Math.max(visit.run.options.intervalMs, crawlDelayMs);
    const limit: HostLimit = { intervalMs, concurrency: hostConcurrency };
    const { holder } = visit;
    const slot = await this.#slots.tryAcquire({ host, holder, limit, pausedMs, signal });
    if (!slot.go) return { laterMs: slot.inMs };
    const { turn } = slot;
    const fetched = await this.#fetch(visit, { signal, hold, timings: turn.timings });
    // If that fails, the place is free again when its lease ends.
    const left = turn.over({ isFailure: 'ending' in fetched }).catch(() => {});
    if (!('to' in fetched)) return { ...fetched, left };
    await left;
    return fetched;
  }

  async #fetch(visit: Visit, request: Required<Pick<PageRequest, 'signal' | 'hold' | 'timings'>>): Promise<Answered> {
    const { fetcher, maxBodyBytes, maxRedirects, clock } = this.#options;
    const broken: StepError[] = [];
    const accepts = (contentType: string | undefined): boolean => {
      const wanted = wants(visit, contentType);
      if (typeof wanted !== 'boolean') broken.push(wanted);
      return wanted === true;
    };
    const url = urlOf(visit);
    const askedAt = clock.now();
    const validators = validatorsFor(visit);
    try {
      const fetched = await fetcher.fetch({
        ...{ ...request, url, maxBodyBytes, accepts },
        ...(validators === undefined ? {} : { validators }),
        redirectedFrom: visit.task.url,
        login: loginOf(visit, url),
      });
      const { status } = fetched;
      const redirect = redirectOf(status, fetched.headers.location, url);
      if (redirect !== undefined) return await followed(visit, redirect, { maxRedirects, status });
      const judgement = judgeAnswer(fetched, this.#circumstances(visit));
      return judgement.outcome.kind === 'done'
        ? { arrival: { fetched, fromCache: false, askedAt } }
        : { ending: { ...judgement, status, answer: fetched, askedAt } };
    } catch (error: unknown) {
      if (!(error instanceof FetchError)) throw error;
      if (broken[0] !== undefined) return { ending: { ...failedStep(broken[0]), status: error.status, askedAt } };
      return { ending: { ...(await this.#failed(visit, error)), askedAt } };
    }
  }

  /** A request that got no answer. */
  async #failed(visit: Visit, error: FetchError): Promise<Ending> {
    const { clock, signal } = this.#options;
    // Its slot stays taken meanwhile: so fewer are open at once.
    if (OUR_SHORTAGES.has(error.reason)) await clock.sleep(REST_MS, signal);
    return { ...judgeFailure(error, this.#circumstances(visit)), status: error.status };
  }

  #circumstances({ state, run, release, answersOthers = false }: Visit): Circumstances {
    const { clock, random } = this.#options;
    const about = { attempts: state.attempts, answersOthers, now: clock.now(), random: random() };
    // Without a ledger there is nowhere to wait for another attempt: what would is given up, and dead-lettered.
    if (release === 0) return { ...about, throttles: MOST_THROTTLES, maxAttempts: 1 };
    return { ...about, throttles: state.throttles, maxAttempts: run.options.maxAttempts };
  }
}

/** Does the crawler want pages of this kind? */
function wants({ run }: Visit, contentType: string | undefined): boolean | StepError {
  try {
    return (run.crawler.accepts ?? acceptsText)(contentType);
  } catch (error: unknown) {
    return stepErrorOf(run.options.crawler, error);
  }
}
