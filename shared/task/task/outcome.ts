/** Reasons for which a task ends as `failed`. A run's counters and dead letters use these words. */
export const FAILED_REASONS = [
  'timeout',
  'dns',
  'connection',
  'tls',
  'http_4xx',
  'http_5xx',
  'redirects',
  'encoding',
  'malformed',
  'deadline',
  'crash_loop',
  'host_down',
  'step',
  'schema',
  'too_large',
  'unknown_fate',
] as const;
export type FailedReason = (typeof FAILED_REASONS)[number];

/** Reasons for a dead letter. `undelivered`: a policy of the broker took the task out of its queue; the task itself has not failed. */
export const LETTER_REASONS = [...FAILED_REASONS, 'undelivered'] as const;
export type LetterReason = (typeof LETTER_REASONS)[number];

/** Reasons for which a task ends as `skipped`: it was not fetched, or not used, by choice. */
export const SKIPPED_REASONS = [
  'robots',
  'crawl_delay',
  'scope',
  'private_address',
  'content_type',
  'size',
  'not_modified',
  'duplicate',
  'middleware',
] as const;
export type SkippedReason = (typeof SKIPPED_REASONS)[number];

/**
 * The outcome of one delivery of a task.
 *
 * | kind      | the task                                                        | attempt |
 * |-----------|-----------------------------------------------------------------|---------|
 * | `done`    | is over: fetched, and its record stored                         | counted |
 * | `skipped` | is over: not fetched, or not used, by choice                    | counted |
 * | `failed`  | is over, and a dead letter says why                             | counted |
 * | `retry`   | waits for `inMs`                                                | counted |
 * | `defer`   | goes back to the head of its host's list, after `inMs` if given; the wait isn't its fault | not counted |
 */
export type Outcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'skipped'; readonly reason: SkippedReason; readonly detail?: string }
  | { readonly kind: 'failed'; readonly reason: FailedReason; readonly detail?: string }
  | { readonly kind: 'retry'; readonly reason: FailedReason; readonly inMs: number; readonly detail?: string }
  | {
      readonly kind: 'defer';
      readonly host?: HostPause;
      readonly inMs?: number;
      /** The host asked only this task to slow down: the task counts as throttled, and the host isn't paused. */
      readonly throttled?: true;
      readonly detail?: string;
    };

/** A pause of the whole host: none of its tasks is released or fetched meanwhile. */
export interface HostPause {
  /** Left out if the host didn't say for how long; the pause then grows each time, see `throttlePauseMs`. */
  readonly pauseMs?: number;
  readonly reason: string;
}
