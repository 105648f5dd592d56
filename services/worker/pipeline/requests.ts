import type { PageHold } from '../../../shared/ports/fetcher.ts';
import type { Claims } from '../../../shared/ports/frontier/frontier.ts';
import type { RobotsRules } from '../../../shared/task/robots/robots-match.ts';
import type { SentRequest } from '../../../shared/task/task/request.ts';
import { retryDelayMs } from '../../../shared/task/task/retry-schedule.ts';
import type { Slots } from '../concurrency/slots.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { type Calls, prepared } from './around-fetch.ts';
import { isKnown, knownAlready } from './claim-arrival.ts';
import { fateBefore, isUnknownFate } from './fate.ts';
import { type Answered, type Hop, HostTurns, type HostTurnsOptions, wants } from './hosts/host-turns.ts';
import { type Candidate, type Permission, type Robots, robotsFor } from './hosts/robots.ts';
import { SilentHosts } from './hosts/silent-hosts.ts';
import { followed, isRespelt, outOfScope } from './redirects.ts';
import {
  type Arrival,
  arrivedMark,
  cookiesOf,
  type Ending,
  failedStep,
  hostOf,
  mostAttempts,
  redirected,
  redirectsOf,
  restarted,
  sentBy,
  urlOf,
  type Visit,
} from './visit.ts';

export interface RequestsOptions extends HostTurnsOptions {
  /** If left out, no page counts as another task's. */
  readonly frontier?: Pick<Claims, 'isTaken'>;
  readonly steps: Calls;
  readonly sessions: Pick<Sessions, 'enter' | 'isExpired' | 'renew'>;
  /** If left out, the rules of robots.txt are ignored. */
  readonly robots?: Robots | undefined;
  readonly slots: Pick<Slots, 'total' | 'noteShortage' | 'noteInLine'>;
}

/** Facts about a page that need no request. */
export interface Known {
  readonly rules: RobotsRules | undefined;
  readonly arrival: Arrival | undefined;
  /** Milliseconds for which its host is still paused. */
  readonly pausedMs?: number;
}

/** The result of a visit's requests. `visit` includes the redirects that were followed. */
export type Requested = { readonly visit: Visit } & (
  | { readonly arrival: Arrival; readonly left?: Promise<void> }
  | { readonly ending: Ending; readonly left?: Promise<void> }
  /** Milliseconds to wait before asking again. */
  | { readonly laterMs: number }
);

/** Wait of pages of hosts that never answered, while too many hosts are silent. */
const SILENT_WAITS_MS = 3_000;
/** Wait of a page whose request had to make room for another host. */
const CUT_SHORT_WAITS_MS = 15_000;

/** Whether a hop's host has answered, if only with its robots.txt. */
interface Spoke {
  readonly spoke: boolean;
}

/** The known facts before a hop. */
interface Reach {
  readonly rules: RobotsRules | undefined;
  readonly arrival: Arrival | undefined;
  readonly pausedMs: number | undefined;
  /** The request to send, unless it is a plain GET. */
  readonly send: SentRequest | undefined;
}

/** Status for a request that a middleware sends elsewhere: it is treated like a redirect. */
const MOVED = 307;

/** The permission where robots.txt is ignored. */
const FREE: Permission = { kind: 'allow', intervalMs: 0, asked: false };

/**
 * Requests a task's page: robots.txt → gate → fetch, and the same again for each redirect, since each hop has its own robots.txt, host and
 * turn. The redirects of a cached response are checked in the same way, but no host is asked.
 */
export class Requests {
  readonly #options: RequestsOptions;
  readonly #turns: HostTurns;
  readonly #silent: SilentHosts;

  constructor(options: RequestsOptions) {
    this.#options = options;
    this.#turns = new HostTurns(options);
    const { slots } = options;
    this.#silent = new SilentHosts({ slots: () => slots.total, onShortage: () => slots.noteShortage() });
  }

  /**
   * Makes the requests of a visit. `left` in the result resolves when its place at the host is free again; reading the page need
   * not wait for that.
   *
   * @param hold the hold on the page's bytes
   */
  async make(visit: Visit, { rules, arrival, pausedMs = 0 }: Known, hold: PageHold): Promise<Requested> {
    const robots = robotsFor(this.#options.robots, visit.run);
    const fate = fateBefore(visit, sentBy(visit));
    if (fate !== undefined) return { visit, ending: fate };
    const { sessions } = this.#options;
    const needsSession = arrival === undefined && visit.run.crawler.sessionOf(visit.task) !== undefined;
    const entered = needsSession ? await sessions.enter(visit) : { session: undefined };
    if ('laterMs' in entered) return { visit, ...entered };
    let [hop, known, paused]: [Visit, RobotsRules | undefined, number | undefined] = [
      entered.session === undefined ? visit : { ...visit, session: entered.session },
      rules,
      pausedMs,
    ];
    for (;;) {
      const first = arrival === undefined ? await prepared(hop, this.#options.steps) : {};
      if ('arrival' in first || 'ending' in first) return { visit: hop, ...first };
      if ('move' in first) {
        const moved = await followed(hop, first.move, { maxRedirects: this.#options.maxRedirects, status: MOVED });
        if ('ending' in moved) return { visit: hop, ending: { ...moved.ending, hostAnswered: undefined } };
        hop = redirected(hop, moved);
        [known, paused] = [await robots?.look(moved.to), undefined];
        continue;
      }
      const { send } = first;
      const spent = fateBefore(hop, send);
      if (spent !== undefined) return { visit: hop, ending: spent };
      const reach = { rules: known, arrival, pausedMs: paused, send };
      const { spoke, ...asked } = await this.#reach(hop, reach, hold);
      if (spoke) hop = { ...hop, spoke };
      // A cached response was requested by another visit, so its redirects are not this visit's.
      if ('arrival' in asked && arrival !== undefined) return { visit, ...asked };
      if ('laterMs' in asked) return { visit: hop, ...asked };
      if ('isExpired' in asked) {
        await asked.left;
        if (!sessions.renew(hop)) return { visit: hop, ending: this.#stillExpired(hop) };
        const again = restarted(visit);
        const renewed = await sessions.enter(again);
        if ('laterMs' in renewed) return { visit: again, ...renewed };
        hop = { ...again, ...renewed };
        [known, paused] = [await robots?.look(urlOf(hop)), undefined];
        continue;
      }
      if (!('to' in asked)) {
        const isSpent = asked.isSent === true && send?.mayRepeat === false;
        return { visit: isSpent ? { ...hop, isSpent } : hop, ...asked };
      }
      const from = urlOf(hop);
      hop = redirected(hop, asked);
      if (arrival === undefined && isRespelt(from, asked.to) && (await this.#isKnown(hop)))
        return { visit: hop, ending: knownAlready(asked.to) };
      // Admission covered only the first host.
      [known, paused] = [await robots?.look(asked.to), undefined];
    }
  }

  /**
   * Returns whether the page that a redirect leads to is another task's. Then it isn't requested a second time, unless its answer for this
   * task might differ: because of cookies, a session that may have ended, or a middleware.
   */
  async #isKnown(hop: Visit): Promise<boolean> {
    const { frontier } = this.#options;
    if (frontier === undefined) return false;
    if (hop.session !== undefined || cookiesOf(hop) !== undefined || hop.run.crawler.middleware.length > 0)
      return false;
    return await isKnown(hop, arrivedMark(hop, urlOf(hop)), frontier);
  }

  /** Makes one hop: checks its robots.txt, then requests its page. */
  async #reach(hop: Visit, { rules, arrival, pausedMs, send }: Reach, hold: PageHold): Promise<Hop & Spoke> {
    const robots = robotsFor(this.#options.robots, hop.run);
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
      const asked = await this.#turns.ask(hop, { crawlDelayMs: permission.intervalMs, pausedMs, send, signal }, hold);
      const hasAnswered =
        'arrival' in asked ||
        'to' in asked ||
        'isExpired' in asked ||
        ('ending' in asked && asked.ending.status !== undefined);
      if (hasAnswered) first?.answered();
      const isOver = hasAnswered || ('ending' in asked && isUnknownFate(asked.ending));
      return { ...(first?.signal.aborted && !isOver ? { laterMs: CUT_SHORT_WAITS_MS } : asked), spoke };
    } finally {
      first?.end();
    }
  }

  /** Checks a cached response: another run's response must not bypass this run's scope or its crawler's content types. */
  async #recall(visit: Visit, arrival: Arrival): Promise<Answered> {
    const { finalUrl, headers, status } = arrival.fetched;
    if (finalUrl !== urlOf(visit)) {
      const outcome = await outOfScope(visit, finalUrl);
      return outcome === undefined ? { to: finalUrl, status } : { ending: { outcome } };
    }
    const contentType = headers['content-type'];
    const wanted = wants(visit, contentType);
    if (wanted === true) return { arrival };
    if (wanted !== false) return { ending: { ...failedStep(wanted), hostAnswered: undefined } };
    const detail = `The answer is ${contentType ?? 'without a content type'}`;
    return { ending: { outcome: { kind: 'skipped', reason: 'content_type', detail } } };
  }

  #candidate(visit: Visit, signal: AbortSignal): Candidate {
    const { intervalMs } = visit.run.options;
    return { url: urlOf(visit), host: hostOf(visit), intervalMs, signal };
  }

  /** Returns the result for a page that its robots.txt forbids or delays. */
  async #refused(
    visit: Visit,
    refusal: Exclude<Permission, { kind: 'allow' }>,
  ): Promise<{ ending: Ending } | { laterMs: number }> {
    switch (refusal.kind) {
      case 'skip': {
        const { reason, asked } = refusal;
        const redirect = redirectsOf(visit).at(-1);
        const detail = redirect === undefined ? refusal.detail : `redirected to ${redirect}: ${refusal.detail}`;
        return { ending: { outcome: { kind: 'skipped', reason, detail }, hostAnswered: asked || undefined } };
      }
      case 'fail':
        return { ending: await this.#turns.failed(visit, refusal.error) };
      case 'unreachable': {
        const { detail, trouble } = refusal;
        return { ending: { outcome: { kind: 'defer', detail }, hostAnswered: false, hostTrouble: trouble } };
      }
      case 'later':
        return { laterMs: refusal.inMs };
    }
  }

  /** Returns the ending of a page that stayed closed after a new login, which costs an attempt. */
  #stillExpired(visit: Visit): Ending {
    const { name } = visit.run.crawler;
    const detail = `crawler ${name}: the answer says again that its session has ended, after a new login`;
    const attempts = visit.state.attempts + 1;
    const about = { reason: 'step', detail } as const;
    if (attempts >= mostAttempts(visit)) return { outcome: { ...about, kind: 'failed' }, hostAnswered: true };
    const inMs = retryDelayMs(attempts, this.#options.random());
    return { outcome: { ...about, kind: 'retry', inMs }, hostAnswered: true };
  }
}
