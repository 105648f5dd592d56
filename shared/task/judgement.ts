import type { FetchFailure } from './fetch-failure.ts';
import type { FailedReason, Outcome, SkippedReason } from './outcome.ts';
import { RETRY_AFTER_CAP_MS, retryAfterMs } from './retry-after.ts';
import { retryDelayMs } from './retry-schedule.ts';

/** What is known of a task beside the answer. */
export interface Circumstances {
  /** Attempts counted before this one. */
  readonly attempts: number;
  readonly maxAttempts: number;
  /** Times that this task was told to slow down before. */
  readonly throttles: number;
  /** Epoch milliseconds, for a `Retry-After` that is a date. */
  readonly now: number;
  /** A number in [0, 1), for jitter. */
  readonly random: number;
}

/** The part of an answer that decides. */
export interface Answer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface Judgement {
  readonly outcome: Outcome;
  /** Did the host answer as a host in order does? `undefined`: it wasn't asked, so it says nothing about the host. */
  readonly hostAnswered: boolean | undefined;
}

/**
 * A task that is told to slow down so often, while its host answers others, begins to pay attempts: one page that always
 * says 429 must not keep a run open for ever.
 */
export const MOST_THROTTLES = 15;

/** The pause of a host that says "slow down" without saying for how long: doubled each time, up to a quarter of an hour. */
const THROTTLE_BASE_MS = 15_000;
const THROTTLE_CAP_MS = 900_000;

/**
 * What an answer means for its task. (A 2xx is `done` unless the crawler finds otherwise.)
 *
 * | status                                   | outcome                                                        |
 * |------------------------------------------|----------------------------------------------------------------|
 * | 2xx                                      | `done`                                                         |
 * | 304                                      | `skipped: not_modified`                                        |
 * | other 3xx (a redirect to nowhere)        | `failed: redirects`                                            |
 * | 408, 425                                 | `retry`, then `failed: http_4xx`                               |
 * | 429                                      | `defer`: no attempt, the whole host waits                      |
 * | other 4xx                                | `failed: http_4xx`                                             |
 * | 5xx with Retry-After                     | `defer`                                                        |
 * | other 5xx                                | `retry`, then `failed: http_5xx`                               |
 */
export function judgeAnswer({ status, headers }: Answer, about: Circumstances): Judgement {
  if (status >= 200 && status < 300) return { outcome: { kind: 'done' }, hostAnswered: true };
  if (status === 304) return { outcome: { kind: 'skipped', reason: 'not_modified' }, hostAnswered: true };
  const detail = `HTTP ${status}`;
  const pauseMs = retryAfterMs(headers['retry-after'], about.now);
  if (status === 429 || (status >= 500 && pauseMs !== undefined)) {
    return { outcome: throttled(status, pauseMs, detail, about), hostAnswered: false };
  }
  if (status === 408 || status === 425) return { outcome: again('http_4xx', detail, about), hostAnswered: true };
  if (status >= 500) return { outcome: again('http_5xx', detail, about), hostAnswered: false };
  const reason = status >= 400 ? 'http_4xx' : 'redirects';
  return { outcome: { kind: 'failed', reason, detail }, hostAnswered: true };
}

type Meaning =
  | { readonly skipped: SkippedReason }
  | { readonly failed: FailedReason }
  /** `once`: tried again, but once only. */
  | { readonly retry: FailedReason; readonly once?: boolean }
  | { readonly defer: true };

/** What a request that came to no answer means. `host` is what it says about the host. */
const FAILURES: Readonly<Record<FetchFailure, { readonly means: Meaning; readonly host: boolean | undefined }>> = {
  timeout: { means: { retry: 'timeout' }, host: false },
  connection: { means: { retry: 'connection' }, host: false },
  dns: { means: { retry: 'dns' }, host: false },
  // A name that doesn't exist seldom comes to exist; but a resolver's hiccup looks the same.
  nxdomain: { means: { retry: 'dns', once: true }, host: false },
  tls: { means: { failed: 'tls' }, host: false },
  redirects: { means: { failed: 'redirects' }, host: true },
  bad_url: { means: { failed: 'redirects' }, host: true },
  encoding: { means: { retry: 'encoding', once: true }, host: true },
  size: { means: { skipped: 'size' }, host: true },
  content_type: { means: { skipped: 'content_type' }, host: true },
  private_address: { means: { skipped: 'private_address' }, host: undefined },
  // Our own want: the page is as good as before.
  exhausted: { means: { defer: true }, host: undefined },
  // We were asked to stop: nobody's fault.
  aborted: { means: { defer: true }, host: undefined },
};

/** What a request that came to no answer means for its task. */
export function judgeFailure(reason: FetchFailure, message: string, about: Circumstances): Judgement {
  const { means, host } = FAILURES[reason];
  return { outcome: outcomeOf(means, message, about), hostAnswered: host };
}

function outcomeOf(means: Meaning, detail: string, about: Circumstances): Outcome {
  if ('skipped' in means) return { kind: 'skipped', reason: means.skipped, detail };
  if ('failed' in means) return { kind: 'failed', reason: means.failed, detail };
  if ('defer' in means) return { kind: 'defer', detail };
  return again(means.retry, detail, about, means.once === true ? 2 : about.maxAttempts);
}

/** A retry while attempts are left, then failed. */
function again(reason: FailedReason, detail: string, about: Circumstances, most = about.maxAttempts): Outcome {
  const attempts = about.attempts + 1;
  if (attempts >= Math.min(most, about.maxAttempts)) return { kind: 'failed', reason, detail };
  return { kind: 'retry', reason, inMs: retryDelayMs(attempts, about.random), detail };
}

function throttled(status: number, asked: number | undefined, detail: string, about: Circumstances): Outcome {
  if (about.throttles >= MOST_THROTTLES) return again(status === 429 ? 'http_4xx' : 'http_5xx', detail, about);
  const own = Math.min(THROTTLE_CAP_MS, THROTTLE_BASE_MS * 2 ** about.throttles);
  const pauseMs = Math.min(RETRY_AFTER_CAP_MS, Math.max(1_000, asked ?? own));
  const reason = asked === undefined ? detail : `${detail}, Retry-After`;
  return { kind: 'defer', host: { pauseMs, reason }, detail };
}
