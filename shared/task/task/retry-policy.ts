import { HOUR_MS } from '../durations.ts';
import type { FailedReason, Outcome } from './outcome.ts';
import { BACKOFFS, type RetrySchedule, retryDelayMs } from './retry-schedule.ts';
import { verdictOf } from './verdict.ts';

/** Maximum characters kept of an error that a policy's function throws. */
const MOST_THROWN_LENGTH = 500;

/** The reasons for which a task may be tried again. The other reasons are not about a single attempt. */
const RETRIED_REASONS = [
  'timeout',
  'dns',
  'connection',
  'tls',
  'http_4xx',
  'http_5xx',
  'redirects',
  'encoding',
  'step',
  'schema',
  'too_large',
] as const satisfies readonly FailedReason[];
type RetriedReason = (typeof RETRIED_REASONS)[number];

/** The failure of an attempt. */
export interface Failure {
  readonly reason: FailedReason;
  /** Status of the answer; left out if there was none. */
  readonly status?: number;
  readonly error?: string;
}

/** Which failed attempts are repeated; `attempt` counts from 1. */
type RetryWhen =
  | 'transient'
  | 'all'
  | readonly RetriedReason[]
  | ((failure: Failure & { readonly attempt: number }) => boolean);

/** When and how often a step's pages are tried again. */
export interface RetryPolicy extends RetrySchedule {
  /** Total attempts, including the first. Default: the run's. */
  readonly attempts?: number;
  /**
   * `transient`: failures that may pass by themselves, such as time-outs and most 5xx. `all`: every failure, including errors that the
   * step threw and items that break their schema. A list: only these reasons. Default: `transient`.
   */
  readonly when?: RetryWhen;
}

/** Facts about a failed attempt besides its outcome. */
export interface FailedAttempt {
  /** Attempts counted before this one. */
  readonly attempts: number;
  readonly maxAttempts: number;
  /** A number in [0, 1), for jitter. */
  readonly random: number;
  readonly status?: number | undefined;
}

/** Applies a policy to the outcome of an attempt. Only failures change: whether they are tried again, and after how long. */
export function underPolicy(outcome: Outcome, policy: RetryPolicy | undefined, about: FailedAttempt): Outcome {
  if (policy === undefined || (outcome.kind !== 'retry' && outcome.kind !== 'failed')) return outcome;
  const { reason, detail } = outcome;
  if (!isRetried(reason)) return outcome;
  const { attempts, maxAttempts, random, status } = about;
  const attempt = attempts + 1;
  const failed = { kind: 'failed', reason, ...(detail === undefined ? {} : { detail }) } as const;
  if (attempt >= maxAttempts) return failed;
  const again = { ...failed, kind: 'retry', inMs: retryDelayMs(attempt, random, policy) } as const;
  const { when = 'transient' } = policy;
  if (when === 'transient') return outcome.kind === 'retry' ? again : outcome;
  if (when === 'all') return again;
  if (typeof when !== 'function') return when.includes(reason) ? again : failed;
  try {
    return verdictOf(when({ ...failureOf(failed, status), attempt }), 'retry.when') ? again : failed;
  } catch (error: unknown) {
    const thrown = error instanceof Error ? String(error).slice(0, MOST_THROWN_LENGTH) : 'no error';
    return { ...failed, detail: `${detail ?? reason}; and retry.when of its step threw: ${thrown}` };
  }
}

/** Turns a failed outcome into the failure that steps see. */
export function failureOf(
  { reason, detail }: { readonly reason: FailedReason; readonly detail?: string },
  status: number | undefined,
): Failure {
  return { reason, ...(status === undefined ? {} : { status }), ...(detail === undefined ? {} : { error: detail }) };
}

/** May a failure for this reason be handed to a fallback step? */
export function mayFallBack(reason: FailedReason): boolean {
  return isRetried(reason) || reason === 'unknown_fate';
}

function isRetried(reason: FailedReason): reason is RetriedReason {
  return (RETRIED_REASONS as readonly FailedReason[]).includes(reason);
}

const MOST_ATTEMPTS = 100;
const LONGEST_DELAY_MS = 24 * HOUR_MS;

/** Finds what is wrong with a policy as written. Each problem is the end of a sentence. */
export function policyProblems(policy: unknown): readonly string[] {
  if (typeof policy !== 'object' || policy === null) return ['expected an object such as { attempts: 5 }'];
  const { attempts, backoff, firstDelayMs, maxDelayMs, when, ...others } = policy as Record<string, unknown>;
  const problems: string[] = Object.keys(others).map(
    (name) => `there is no ${name}; there are attempts, backoff, firstDelayMs, maxDelayMs, when`,
  );
  const isDelay = (ms: unknown): boolean => typeof ms === 'number' && ms >= 0 && ms <= LONGEST_DELAY_MS;
  if (
    attempts !== undefined &&
    !(Number.isInteger(attempts) && Number(attempts) >= 1 && Number(attempts) <= MOST_ATTEMPTS)
  )
    problems.push(`expected attempts to be a whole number from 1 to ${MOST_ATTEMPTS}`);
  if (backoff !== undefined && !(BACKOFFS as readonly unknown[]).includes(backoff))
    problems.push(`expected backoff to be ${BACKOFFS.join(', ')}`);
  for (const [name, ms] of Object.entries({ firstDelayMs, maxDelayMs }))
    if (ms !== undefined && !isDelay(ms))
      problems.push(`expected ${name} to be milliseconds, at most ${LONGEST_DELAY_MS}`);
  if (when === undefined || when === 'transient' || when === 'all' || typeof when === 'function') return problems;
  if (!Array.isArray(when)) return [...problems, 'expected when to be transient, all, a list of reasons or a function'];
  const unknown = when.filter((reason) => !isRetried(reason));
  problems.push(
    ...unknown.map((reason) => `tasks are not retried for ${reason}; the reasons are ${RETRIED_REASONS.join(', ')}`),
  );
  return problems;
}
