import { SECOND_MS } from '../durations.ts';
import { type HostFault, PAGE_FAULT } from '../host/breaker.ts';
import { throttlePauseMs } from '../host/host-pace.ts';
import type { HostTrouble } from '../host/host-trouble.ts';
import { RETRY_AFTER_CAP_MS, retryAfterMs } from '../host/retry-after.ts';
import type { FetchFailure } from './fetch-failure.ts';
import type { FailedReason, HostPause, Outcome, SkippedReason } from './outcome.ts';
import { retryDelayMs } from './retry-schedule.ts';

/** Facts about a task, besides the answer, that decide its outcome. */
export interface Circumstances {
  /** Attempts counted before this one. */
  readonly attempts: number;
  readonly maxAttempts: number;
  /** Times that this task has got a "slow down" answer before. */
  readonly throttles: number;
  /** Has its host recently answered other tasks normally, although it had said "slow down"? */
  readonly answersOthers: boolean;
  /** Epoch milliseconds; used when `Retry-After` is a date and the answer has no `Date`. */
  readonly now: number;
  /** A number in [0, 1), for jitter. */
  readonly random: number;
  /** Was the page requested whether it has changed or not? Default: no. */
  readonly isUnconditional?: boolean;
}

/** The parts of an answer that decide the outcome. */
export interface Answer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface Judgement {
  readonly outcome: Outcome;
  /** Did the host give a healthy answer? Undefined if it wasn't asked, which says nothing about the host. */
  readonly hostAnswered: boolean | undefined;
  /** A sign that the host is down. Several in a row open its breaker; an answer without one closes it. */
  readonly hostFault?: HostFault;
  /** The reason why the answer wasn't healthy, or there was none. */
  readonly hostTrouble?: HostTrouble;
  /** The host's answer, if it asked us to slow down without saying for how long. */
  readonly slowDown?: string;
}

/** After this many "slow down" answers, each further one costs the task an attempt: one page must not keep a run open for ever. */
export const MOST_THROTTLES = 15;

/** The same limit for a host that doesn't say for how long and answers other tasks: it is then refusing this page. */
const MOST_THROTTLES_ALONE = 5;

const UNCHANGED: Outcome = { kind: 'skipped', reason: 'not_modified' };

/**
 * Judges what an answer means for its task. (A 2xx is `done` unless the crawler decides otherwise.)
 *
 * | status                                   | outcome                                                        |
 * |------------------------------------------|----------------------------------------------------------------|
 * | 2xx                                      | `done`                                                         |
 * | 304                                      | `skipped: not_modified`                                        |
 * | 304 to an unconditional request          | `retry`, then `failed: redirects`: there is no page to fall back on |
 * | other 3xx (a redirect without a target)  | `failed: redirects`                                            |
 * | 408, 425                                 | `retry`, then `failed: http_4xx`                               |
 * | 429                                      | `defer`: costs no attempt; the whole host waits, and is slowed if it didn't say for how long |
 * | repeated 429 without Retry-After, while the host answers other tasks | `defer`: only this page waits, longer each time; after {@link MOST_THROTTLES_ALONE}, `retry`, then `failed: http_4xx` |
 * | other 4xx                                | `failed: http_4xx`                                             |
 * | 5xx with Retry-After                     | `defer`                                                        |
 * | 503 without Retry-After                  | `retry`, then `failed: http_5xx`; the host is slowed           |
 * | other 5xx                                | `retry`, then `failed: http_5xx`                               |
 */
export function judgeAnswer({ status, headers }: Answer, about: Circumstances): Judgement {
  if (status >= 200 && status < 300) return { outcome: { kind: 'done' }, hostAnswered: true };
  const detail = `HTTP ${status}`;
  if (status === 304) {
    const outcome =
      about.isUnconditional === true ? again('redirects', `${detail} to an unconditional request`, about) : UNCHANGED;
    return { outcome, hostAnswered: true };
  }
  const pauseMs = retryAfterMs(headers, about.now);
  if (status === 429 || (status >= 500 && pauseMs !== undefined)) {
    const outcome = throttled(status, pauseMs, detail, about);
    const isSlowed = pauseMs === undefined && outcome.kind === 'defer' && outcome.host !== undefined;
    return { outcome, ...unhealthy(detail), ...(isSlowed ? { slowDown: detail } : {}) };
  }
  if (status === 408 || status === 425) return { outcome: again('http_4xx', detail, about), hostAnswered: true };
  if (status >= 500) {
    const slowed = status === 503 ? { slowDown: detail } : {};
    const outcome = again('http_5xx', detail, about);
    return { outcome, ...unhealthy(detail), hostFault: status === 500 ? PAGE_FAULT : 'answers of 5xx', ...slowed };
  }
  const reason = status >= 400 ? 'http_4xx' : 'redirects';
  return { outcome: { kind: 'failed', reason, detail }, hostAnswered: true };
}

/**
 * Judges an answer of 400 or more that a step takes as a page. Its task is done; what the answer says about its host still counts.
 *
 * | status                            | the host                                                        |
 * |-----------------------------------|-----------------------------------------------------------------|
 * | 429, 5xx with Retry-After         | is paused, and slowed if it didn't say for how long             |
 * | 503 without Retry-After           | is slowed, and counts as failing                                |
 * | any other                         | is healthy: the step says that such answers are pages           |
 */
export function judgeTaken({ status, headers }: Answer, now: number): Judgement {
  const outcome: Outcome = { kind: 'done' };
  const detail = `HTTP ${status}`;
  const askedMs = retryAfterMs(headers, now);
  if (status === 429 || (status >= 500 && askedMs !== undefined)) {
    const { pauseMs = throttlePauseMs(1), reason } = pauseAsked(askedMs, detail);
    const hostTrouble: HostTrouble = { kind: 'answered', reason, pauseMs };
    return { outcome, hostAnswered: false, hostTrouble, ...(askedMs === undefined ? { slowDown: detail } : {}) };
  }
  if (status !== 503) return { outcome, hostAnswered: true };
  return { outcome, ...unhealthy(detail), hostFault: 'answers of 5xx', slowDown: detail };
}

function unhealthy(reason: string): Pick<Judgement, 'hostAnswered' | 'hostTrouble'> {
  return { hostAnswered: false, hostTrouble: { kind: 'answered', reason } };
}

type Meaning =
  | { readonly skipped: SkippedReason }
  | { readonly failed: FailedReason }
  /** `once`: allows only one more attempt. */
  | { readonly retry: FailedReason; readonly once?: boolean }
  | { readonly defer: true };

/** What a failed request says about its host: a fault, that it is healthy, that our own network is down, or nothing (undefined). */
type HostSign = HostFault | 'in order' | 'outage' | undefined;

const FAILURES: Readonly<Record<FetchFailure, { readonly means: Meaning; readonly host: HostSign }>> = {
  timeout: { means: { retry: 'timeout' }, host: 'time-outs' },
  connection: { means: { retry: 'connection' }, host: 'connection errors' },
  dns: { means: { retry: 'dns' }, host: 'failed look-ups' },
  // A name that doesn't exist rarely appears later, but a resolver's hiccup looks the same.
  nxdomain: { means: { retry: 'dns', once: true }, host: 'failed look-ups' },
  tls: { means: { failed: 'tls' }, host: 'failed handshakes' },
  redirects: { means: { failed: 'redirects' }, host: 'in order' },
  bad_url: { means: { failed: 'redirects' }, host: 'in order' },
  encoding: { means: { retry: 'encoding', once: true }, host: 'in order' },
  size: { means: { skipped: 'size' }, host: 'in order' },
  content_type: { means: { skipped: 'content_type' }, host: 'in order' },
  private_address: { means: { skipped: 'private_address' }, host: undefined },
  network: { means: { defer: true }, host: 'outage' },
  // Both are shortages of ours; the page was never tried.
  proxy: { means: { defer: true }, host: undefined },
  exhausted: { means: { defer: true }, host: undefined },
  // The worker is stopping: not a failure.
  aborted: { means: { defer: true }, host: undefined },
};

/** A request that got no answer, or only the beginning of one, whose status is `status`. */
export interface Failure {
  readonly reason: FetchFailure;
  readonly message: string;
  readonly status?: number | undefined;
}

/** Judges what a request without an answer means for its task. */
export function judgeFailure({ reason, message, status }: Failure, about: Circumstances): Judgement {
  const { means, host } = FAILURES[reason];
  const outcome = outcomeOf(means, message, about);
  if (host === undefined || host === 'in order')
    return { outcome, hostAnswered: host === undefined ? undefined : true };
  const kind = host === 'outage' ? 'outage' : status === undefined ? 'silent' : 'answered';
  const hostTrouble = { kind, reason: failureText({ reason, message }) } as const;
  return { outcome, hostAnswered: false, hostTrouble, ...(host === 'outage' ? {} : { hostFault: host }) };
}

const TEXTS: Readonly<Partial<Record<FetchFailure, string>>> = {
  timeout: 'time-outs',
  network: 'no answer',
  dns: 'failed look-ups',
  nxdomain: 'no such name',
  tls: 'failed TLS handshakes',
  encoding: 'a broken encoding',
};

/** Says in two or three words why a request got no answer. */
export function failureText({ reason, message }: Failure): string {
  return TEXTS[reason] ?? (message.includes('ECONNREFUSED') ? 'connection refused' : 'connection errors');
}

function outcomeOf(means: Meaning, detail: string, about: Circumstances): Outcome {
  if ('skipped' in means) return { kind: 'skipped', reason: means.skipped, detail };
  if ('failed' in means) return { kind: 'failed', reason: means.failed, detail };
  if ('defer' in means) return { kind: 'defer', detail };
  return again(means.retry, detail, about, means.once === true ? 2 : about.maxAttempts);
}

/** Makes a `retry` while attempts are left, otherwise `failed`. */
function again(reason: FailedReason, detail: string, about: Circumstances, most = about.maxAttempts): Outcome {
  const attempts = about.attempts + 1;
  if (attempts >= Math.min(most, about.maxAttempts)) return { kind: 'failed', reason, detail };
  return { kind: 'retry', reason, inMs: retryDelayMs(attempts, about.random), detail };
}

function throttled(status: number, asked: number | undefined, detail: string, about: Circumstances): Outcome {
  const { throttles } = about;
  const isAlone = asked === undefined && throttles > 0 && about.answersOthers;
  if (throttles >= (isAlone ? MOST_THROTTLES_ALONE : MOST_THROTTLES))
    return again(status === 429 ? 'http_4xx' : 'http_5xx', detail, about);
  if (isAlone) return { kind: 'defer', throttled: true, inMs: throttlePauseMs(throttles + 1), detail };
  return { kind: 'defer', host: pauseAsked(asked, detail), detail };
}

/** Returns the pause of a host that asks for one, by its `Retry-After` in milliseconds, if it has one. */
function pauseAsked(askedMs: number | undefined, detail: string): HostPause {
  if (askedMs === undefined) return { reason: detail };
  const pauseMs = Math.min(RETRY_AFTER_CAP_MS, Math.max(SECOND_MS, askedMs));
  return { pauseMs, reason: `${detail}, Retry-After` };
}
