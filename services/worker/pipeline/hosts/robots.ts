import type { HostSends } from '../../../../shared/loops/host-sends.ts';
import { SlotWait } from '../../../../shared/loops/slot-wait.ts';
import type { FetchError, Fetcher } from '../../../../shared/ports/fetcher.ts';
import { type HostGate, MAX_SLOT_WAIT_MS } from '../../../../shared/ports/host-gate.ts';
import { bytesOfRules, type RobotsStore, type RobotsWay } from '../../../../shared/ports/robots-store.ts';
import type { Clock } from '../../../../shared/runtime/clock.ts';
import { ExpiringCache } from '../../../../shared/runtime/collections/expiring-cache.ts';
import type { Logger } from '../../../../shared/runtime/logger.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../../shared/task/durations.ts';
import { type HostTrouble, SILENT_PAUSE_MS } from '../../../../shared/task/host/host-trouble.ts';
import { retryAfterMs } from '../../../../shared/task/host/retry-after.ts';
import { robotsPauseMs, robotsWaitMs } from '../../../../shared/task/robots/robots-answer.ts';
import { MAX_CRAWL_DELAY_MS, type RobotsRules } from '../../../../shared/task/robots/robots-match.ts';
import { robotsRefusal } from '../../../../shared/task/robots/robots-refusal.ts';
import { hostKeyOf, originOf } from '../../../../shared/task/url/url.ts';
import type { WorkedRun } from '../../run-directory.ts';
import { HostWarnings } from './host-warnings.ts';
import { type RobotsAnswer, requestRobots } from './robots-request.ts';

interface RobotsOptions {
  readonly store: RobotsStore;
  readonly gate: HostGate;
  /** See {@link SlotWait}. */
  readonly sends?: HostSends;
  readonly fetcher: Fetcher;
  readonly clock: Clock;
  readonly hostConcurrency: number;
  /** Time limit of one request; no other process asks meanwhile. */
  readonly timeoutMs: number;
  /** Returns a number in [0, 1). */
  readonly random: () => number;
  readonly log: Logger;
}

/** A page that is about to be fetched. */
export interface Candidate {
  readonly url: string;
  readonly host: string;
  /** The run's minimum time between two requests to the host. */
  readonly intervalMs: number;
  readonly signal: AbortSignal;
}

/** The verdict of robots.txt about a page. */
export type Permission =
  /** `intervalMs`: the minimum time between two requests to the host. `asked`: the host has just answered. */
  | { readonly kind: 'allow'; readonly intervalMs: number; readonly asked: boolean }
  | {
      readonly kind: 'skip';
      readonly reason: 'robots' | 'crawl_delay';
      readonly detail: string;
      readonly asked: boolean;
    }
  /** Ask again in `inMs`, not sooner; the host isn't the cause. */
  | { readonly kind: 'later'; readonly inMs: number }
  /** The host's robots.txt can't be read; the host is paused. */
  | { readonly kind: 'unreachable'; readonly detail: string; readonly trouble: HostTrouble }
  /** The robots.txt failed in a way that would also fail the page. */
  | { readonly kind: 'fail'; readonly error: FetchError };

/** The rules, or the reason why there are none. */
type RobotsLookup =
  | { readonly kind: 'rules'; readonly rules: RobotsRules; readonly asked: boolean }
  | Extract<Permission, { kind: 'later' | 'unreachable' | 'fail' }>;

/** Time for which a process remembers rules before it asks the store again. */
const KNOWN_MS = 5 * MINUTE_MS;
/** Time for which the store keeps rules. RFC 9309 section 2.4 allows a day in all, of which a process remembers them for {@link KNOWN_MS}. */
const RULES_KEPT_MS = DAY_MS - KNOWN_MS;
/** Time for which "no rules" are kept: such an answer may be a mistake that is soon corrected. */
const NO_RULES_KEPT_MS = HOUR_MS;
const MOST_KNOWN = 10_000;
const MOST_KNOWN_BYTES = 32_000_000;
/** Wait of pages in the frontier while their robots.txt is fetched. */
const LATER_MS = 1_000;
/** Interval at which the store is read while another process fetches the file. */
const LOOK_EVERY_MS = 100;
/** Time that a lock outlasts its requests, for the wait for slots and for storing the rules. */
const LOCK_EXTRA_MS = 10_000;

/** Returns the robots.txt for a run's pages; nothing if the run or the worker ignores it. */
export function robotsFor(robots: Robots | undefined, { options }: Pick<WorkedRun, 'options'>): Robots | undefined {
  return options.robots === 'ignore' ? undefined : robots;
}

/**
 * Decides by robots.txt whether a page may be fetched. One process of the fleet fetches an origin's file, through the host's gate and for
 * all pages; the others wait a moment for it, then put their pages back. Each redirect takes a turn of the host it leads to. If no turn is
 * free there, the redirects followed so far are stored, and the next request continues from them.
 *
 * A process remembers rules for a few minutes, so that most pages need no call to the store.
 */
export class Robots {
  readonly #options: RobotsOptions;
  readonly #known: ExpiringCache<RobotsRules>;
  readonly #warnings: HostWarnings;
  readonly #slots: SlotWait;
  /** Requests in progress here, by origin. */
  readonly #asking = new Map<string, Promise<RobotsLookup>>();

  constructor(options: RobotsOptions) {
    this.#options = options;
    const { clock } = options;
    this.#warnings = new HostWarnings(options);
    this.#slots = new SlotWait(options);
    this.#known = new ExpiringCache({ clock, max: MOST_KNOWN, maxSize: MOST_KNOWN_BYTES });
  }

  /** Returns the rules for a URL if this process or the store has them. Makes no request to the host. */
  async look(url: string): Promise<RobotsRules | undefined> {
    const origin = originOf(url);
    const known = this.#known.get(origin);
    if (known !== undefined) return known;
    const rules = await this.#options.store.find(origin);
    if (rules !== undefined) this.#remember(origin, rules);
    return rules;
  }

  /** Returns whether this page may be fetched. Fetches the robots.txt of its origin if {@link look} found no rules. */
  async permit(candidate: Candidate, rules: RobotsRules | undefined): Promise<Permission> {
    const found: RobotsLookup =
      rules === undefined ? await this.#find(candidate) : { kind: 'rules', rules, asked: false };
    if (found.kind !== 'rules') return found;
    const { crawlDelayMs: delayMs = 0 } = found.rules;
    const { asked } = found;
    const skip = { kind: 'skip', asked } as const;
    const forbidden = robotsRefusal(found.rules, candidate.url);
    if (forbidden !== undefined) return { ...skip, reason: 'robots', detail: forbidden };
    if (delayMs <= MAX_CRAWL_DELAY_MS) return { kind: 'allow', intervalMs: delayMs, asked };
    return { ...skip, reason: 'crawl_delay', detail: `robots.txt asks for ${delayMs / 1_000} s between requests` };
  }

  async #find(candidate: Candidate): Promise<RobotsLookup> {
    const origin = originOf(candidate.url);
    const asking = this.#asking.get(origin);
    if (asking === undefined) {
      const mine = this.#ask(origin, candidate).finally(() => this.#asking.delete(origin));
      this.#asking.set(origin, mine);
      return await mine;
    }
    const given = new AbortController();
    const signal = AbortSignal.any([candidate.signal, given.signal]);
    const tooLate = this.#options.clock
      .sleep(MAX_SLOT_WAIT_MS, signal)
      .then((): RobotsLookup => ({ kind: 'later', inMs: LATER_MS }));
    try {
      return await Promise.race([asking, tooLate]);
    } finally {
      given.abort();
    }
  }

  async #ask(origin: string, candidate: Candidate): Promise<RobotsLookup> {
    const { store, clock, timeoutMs } = this.#options;
    const until = clock.monotonic() + MAX_SLOT_WAIT_MS;
    while (!(await store.lock(origin, 2 * timeoutMs + LOCK_EXTRA_MS))) {
      if (candidate.signal.aborted || clock.monotonic() >= until) return { kind: 'later', inMs: LATER_MS };
      await clock.sleep(LOOK_EVERY_MS, candidate.signal);
      const rules = await store.find(origin);
      if (rules !== undefined) return this.#remember(origin, rules);
    }
    try {
      // Another process may have stored the rules since the last look.
      const rules = await store.find(origin);
      if (rules !== undefined) return this.#remember(origin, rules);
      return await this.#request(origin, candidate);
    } finally {
      // If unlocking fails, the lock expires.
      await store.unlock(origin).catch(() => {});
    }
  }

  /** Requests the file at its origin, then wherever it is redirected. */
  async #request(origin: string, candidate: Candidate): Promise<RobotsLookup> {
    const { store, timeoutMs } = this.#options;
    const endsAt = performance.now() + timeoutMs;
    let way = (await store.way(origin)) ?? AT_THE_ORIGIN;
    for (;;) {
      const at = way.redirects.length === 0 ? candidate.host : hostKeyOf(new URL(way.redirects.at(-1) ?? ''));
      const answer = await this.#askOnce({ origin, at, way }, candidate);
      if (answer.kind === 'later') return await this.#wait({ origin, at, way }, answer.inMs, candidate);
      if (answer.kind !== 'moved') return await this.#found({ origin, host: candidate.host, at }, answer);
      way = { redirects: [...way.redirects, answer.to], waits: 0 };
      // Later than this, the next request might outlast the lock.
      if (performance.now() > endsAt) return await this.#wait({ origin, at: candidate.host, way }, 0, candidate);
    }
  }

  /** Makes one request, in a turn of the host it goes to. */
  async #askOnce(
    { origin, at, way }: OnTheWay,
    { intervalMs, signal }: Candidate,
  ): Promise<RobotsAnswer | { readonly kind: 'later'; readonly inMs: number }> {
    const { fetcher, hostConcurrency, log } = this.#options;
    const limit = { intervalMs, concurrency: hostConcurrency };
    const holder = `robots:${origin}`;
    await fetcher.prepare(way.redirects.at(-1) ?? `${origin}/robots.txt`, signal);
    // The host may have been paused since the page was admitted.
    const slot = await this.#slots.tryAcquire({ host: at, holder, limit, signal });
    if (!slot.go) return { kind: 'later', inMs: slot.inMs };
    const { turn } = slot;
    const answer = await requestRobots(origin, way.redirects, fetcher, { signal, timings: turn.timings });
    await turn.over({ isFailure: answer.kind !== 'rules' && answer.kind !== 'moved' });
    log.debug({ origin, ...(answer.kind === 'wait' ? { reason: answer.reason } : {}) }, `robots.txt: ${answer.kind}`);
    return answer;
  }

  /** Makes the page wait for a turn of a host: its own, or the one its robots.txt redirects to. */
  async #wait({ origin, at, way }: OnTheWay, inMs: number, { host }: Candidate): Promise<RobotsLookup> {
    const { store, random } = this.#options;
    const isElsewhere = at !== host;
    const waits = isElsewhere ? way.waits + 1 : 0;
    if (way.redirects.length > 0) await store.keepWay(origin, { ...way, waits });
    return { kind: 'later', inMs: isElsewhere ? robotsWaitMs(waits, inMs, random()) : inMs };
  }

  async #found(asked: Asked, answer: Exclude<RobotsAnswer, { kind: 'moved' }>): Promise<RobotsLookup> {
    switch (answer.kind) {
      case 'rules':
        return await this.#keep(asked, answer.rules, answer.found ? RULES_KEPT_MS : NO_RULES_KEPT_MS);
      case 'wait':
        return await this.#pause(asked, answer);
      case 'as_page':
        return { kind: 'fail', error: answer.error };
      case 'again':
        return { kind: 'later', inMs: LATER_MS };
    }
  }

  async #keep({ origin, host }: Asked, rules: RobotsRules, forMs: number): Promise<RobotsLookup> {
    const { store, gate } = this.#options;
    const { crawlDelayMs: delayMs = 0 } = rules;
    // Done before the rules are stored: a process that finds them relies on this pace.
    if (delayMs > 0 && delayMs <= MAX_CRAWL_DELAY_MS) await gate.slow(host, delayMs, forMs);
    await store.keep(origin, rules, forMs);
    return { ...this.#remember(origin, rules), asked: true };
  }

  async #pause({ origin, host, at }: Asked, answer: Extract<RobotsAnswer, { kind: 'wait' }>) {
    const { store, gate, clock } = this.#options;
    const { reason, detail, headers = {}, isThrottled, trouble } = answer;
    const askedMs = retryAfterMs(headers, clock.now());
    if (at !== host && isThrottled) await gate.pause(at, robotsPauseMs(1, askedMs), reason);
    const longMs = robotsPauseMs(await store.fail(origin), askedMs);
    // A host that has never answered is tried again soon. The frontier knows whether it has, and if so pauses it for longer.
    const isSilent = trouble.kind === 'silent';
    const pauseMs = isSilent ? Math.min(longMs, SILENT_PAUSE_MS) : longMs;
    await gate.pause(host, pauseMs, reason);
    const fields = { error: detail, seconds: Math.round(pauseMs / 1_000) };
    this.#warnings.tell(host, fields, "the host waits, its robots.txt can't be fetched:");
    return { kind: 'unreachable', detail, trouble: isSilent ? { ...trouble, pauseMs: longMs } : trouble } as const;
  }

  #remember(origin: string, rules: RobotsRules): RobotsLookup & { readonly kind: 'rules' } {
    this.#known.keep(origin, rules, KNOWN_MS, bytesOfRules(rules));
    return { kind: 'rules', rules, asked: false };
  }
}

interface Asked {
  readonly origin: string;
  /** The host of the origin. */
  readonly host: string;
  /** The host that answered; after redirects, another one. */
  readonly at: string;
}

interface OnTheWay {
  readonly origin: string;
  /** The host that is asked next. */
  readonly at: string;
  readonly way: RobotsWay;
}

const AT_THE_ORIGIN: RobotsWay = { redirects: [], waits: 0 };
