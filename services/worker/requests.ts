import type { Clock } from '../../shared/clock.ts';
import { acceptsText } from '../../shared/crawler/crawler.ts';
import { FetchError, type Fetcher } from '../../shared/fetcher.ts';
import type { HostGate, HostLimit } from '../../shared/host-gate.ts';
import { type Circumstances, judgeAnswer, judgeFailure, MOST_THROTTLES } from '../../shared/task/judgement.ts';
import { redirectOf } from '../../shared/task/redirect.ts';
import type { RobotsRules } from '../../shared/task/robots-match.ts';
import { holdSlot } from './hold-slot.ts';
import { followed } from './redirects.ts';
import { validatorsFor } from './revisit.ts';
import type { Candidate, Permission, Robots } from './robots.ts';
import { type Arrival, type Ending, hostOf, redirected, urlOf, type Visit } from './visit.ts';

export interface RequestsOptions {
  readonly gate: HostGate;
  readonly fetcher: Fetcher;
  /** Left out, the rules of robots.txt are ignored. */
  readonly robots?: Robots | undefined;
  readonly maxBodyBytes: number;
  readonly maxRedirects: number;
  readonly hostConcurrency: number;
  readonly clock: Clock;
  readonly random: () => number;
  readonly signal: AbortSignal;
}

/** What is known of a page before anybody is asked for it. */
export interface Known {
  readonly rules: RobotsRules | undefined;
  readonly arrival: Arrival | undefined;
  /** Its host is paused for so long still. */
  readonly pausedMs?: number;
}

/** What a visit's requests came to. Redirects may have led it on: `visit` says where to. */
export type Requested = { readonly visit: Visit } & (
  | { readonly arrival: Arrival; readonly left?: Promise<void> }
  | { readonly ending: Ending; readonly left?: Promise<void> }
  /** It is no use to ask sooner than in so many milliseconds. */
  | { readonly laterMs: number }
);

/** How long a slot rests when this machine had no socket for it, or no proxy. */
const EXHAUSTED_REST_MS = 2_000;

/** Where robots.txt is ignored. */
const FREE: Permission = { kind: 'allow', intervalMs: 0 };

/**
 * Asks for a task's page: robots.txt → gate → fetch, and the same again for each redirect, whose hop has a robots.txt, a
 * host and a turn of its own.
 */
export class Requests {
  readonly #options: RequestsOptions;

  constructor(options: RequestsOptions) {
    this.#options = options;
  }

  /** `left` in the answer: its place at the host is free again. That need not be waited for before the page is read. */
  async make(visit: Visit, { rules, arrival, pausedMs = 0 }: Known): Promise<Requested> {
    const { robots } = this.#options;
    let [hop, known, paused]: [Visit, RobotsRules | undefined, number | undefined] = [visit, rules, pausedMs];
    for (;;) {
      const permission = (await robots?.permit(this.#candidate(hop), known)) ?? FREE;
      if (permission.kind !== 'allow') return { visit: hop, ...this.#refused(hop, permission) };
      if (arrival !== undefined) return { visit: hop, arrival };
      const asked = await this.#ask(hop, permission.intervalMs, paused);
      if (!('to' in asked)) return { visit: hop, ...asked };
      hop = redirected(hop, asked.to);
      // Admission knew the first host only.
      [known, paused] = [await robots?.look(asked.to), undefined];
    }
  }

  #candidate(visit: Visit): Candidate {
    const { intervalMs } = visit.run.options;
    return { url: urlOf(visit), host: hostOf(visit), intervalMs, signal: this.#options.signal };
  }

  /** What becomes of a page that is not fetched, or not now, because of its robots.txt. */
  #refused(visit: Visit, refusal: Exclude<Permission, { kind: 'allow' }>): { ending: Ending } | { laterMs: number } {
    switch (refusal.kind) {
      case 'skip': {
        const { reason, detail, asked } = refusal;
        return { ending: { outcome: { kind: 'skipped', reason, detail }, hostAnswered: asked || undefined } };
      }
      case 'fail': {
        const { reason, message, status } = refusal.error;
        return { ending: { ...judgeFailure(reason, message, this.#circumstances(visit)), status } };
      }
      case 'unreachable':
        return { ending: { outcome: { kind: 'defer', detail: refusal.reason }, hostAnswered: false } };
      case 'later':
        return { laterMs: refusal.inMs };
    }
  }

  /** One request, in its host's turn. */
  async #ask(visit: Visit, crawlDelayMs: number, pausedMs: number | undefined) {
    const { gate, clock, signal, hostConcurrency } = this.#options;
    const host = hostOf(visit);
    const intervalMs = Math.max(visit.run.options.intervalMs, crawlDelayMs);
    const limit: HostLimit = { intervalMs, concurrency: hostConcurrency };
    // Not by worker: who takes a release over from a dead one has its place, too, and needn't wait for its lease.
    const holder = `${visit.task.run}:${visit.release}`;
    const held = await holdSlot(host, holder, { gate, clock, limit, pausedMs, signal });
    if (!held.go) return { laterMs: held.inMs };
    const began = performance.now();
    const fetched = await this.#fetch(visit);
    // If that fails, the place is free again when its lease ends.
    const left = gate.leave(host, limit, holder, performance.now() - began, 'ending' in fetched).catch(() => {});
    if (!('to' in fetched)) return { ...fetched, left };
    await left;
    return fetched;
  }

  async #fetch(visit: Visit): Promise<{ arrival: Arrival } | { ending: Ending } | { to: string }> {
    const { fetcher, maxBodyBytes, maxRedirects, clock, signal } = this.#options;
    const { accepts = acceptsText } = visit.run.crawler;
    const url = urlOf(visit);
    const askedAt = clock.now();
    const validators = validatorsFor(visit);
    try {
      const fetched = await fetcher.fetch({
        ...{ url, maxBodyBytes, signal, accepts },
        ...(validators === undefined ? {} : { validators }),
        followRedirects: false,
        redirectedFrom: visit.task.url,
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
      const { reason, message, status } = error;
      // Its slot stays taken meanwhile: so fewer are open at once.
      if (reason === 'exhausted' || reason === 'proxy') await clock.sleep(EXHAUSTED_REST_MS, signal);
      return { ending: { ...judgeFailure(reason, message, this.#circumstances(visit)), status, askedAt } };
    }
  }

  #circumstances({ state, run, release }: Visit): Circumstances {
    const { clock, random } = this.#options;
    const about = { attempts: state.attempts, now: clock.now(), random: random() };
    // Without a ledger there is nowhere to wait for another attempt: what would is given up, and buried.
    if (release === 0) return { ...about, throttles: MOST_THROTTLES, maxAttempts: 1 };
    return { ...about, throttles: state.throttles, maxAttempts: run.options.maxAttempts };
  }
}
