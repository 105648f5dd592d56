/** Why a task ended as `failed`. A run counts by these words, and a dead letter carries one. */
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
] as const;
export type FailedReason = (typeof FAILED_REASONS)[number];

/** Why a task ended as `skipped`: we chose not to. */
export const SKIPPED_REASONS = [
  'robots',
  'crawl_delay',
  'scope',
  'private_address',
  'content_type',
  'size',
  'not_modified',
  'duplicate',
] as const;
export type SkippedReason = (typeof SKIPPED_REASONS)[number];

/**
 * The outcome of one delivery of a task.
 *
 * | kind      | the task                                                        | attempt |
 * |-----------|-----------------------------------------------------------------|---------|
 * | `done`    | is over: fetched, its record stored                             | counted |
 * | `skipped` | is over: we chose not to                                        | counted |
 * | `failed`  | is over, and a dead letter tells why                            | counted |
 * | `retry`   | waits until `inMs` have passed                                  | counted |
 * | `defer`   | goes back to the head of its host's list, after `inMs` if given: the wait is not its fault | free |
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
      /** It alone was told to slow down: counted as that, and its host isn't paused. */
      readonly throttled?: true;
      readonly detail?: string;
    };

/** The host as a whole asked us to wait: nothing of it is released or fetched meanwhile. */
export interface HostPause {
  /** Left out when it didn't say for how long: then it is by how often it has said so; see `throttlePauseMs`. */
  readonly pauseMs?: number;
  readonly reason: string;
}
