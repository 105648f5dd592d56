import type { FetchFailure } from '../task/task/fetch-failure.ts';
import type { Outcome } from '../task/task/outcome.ts';

/**
 * Receives the events of one process, to count and time them.
 *
 * Every method is cheap, never throws, and can be called at any time: methods are called several times per page. No call names
 * a host, a URL or a run, because metrics are kept for ever, once for each combination of labels. Implementation:
 * `metrics/prometheus-observer.ts`.
 */
export interface Observer {
  /** Tasks were settled with an outcome that the frontier accepted. The reason is `''` if there is none. */
  settled(outcome: Outcome['kind'], reason: string, tasks: number): void;
  /** A request has ended. Includes requests for robots.txt and sitemaps. */
  fetched(outcome: FetchOutcome, durationMs: number): void;
  /** Bytes of a body have arrived, counted after decompression. */
  received(bytes: number): void;
  /** A request has waited for its host's turn, whether it got one or not. */
  gateWaited(ms: number): void;
  /** Tasks were released. */
  released(tasks: number): void;
  /** Tasks were put back because their leases had lapsed. */
  lapsed(tasks: number): void;
  /** A record was stored. */
  recordWritten(sink: string): void;
  /** A call to a store has succeeded or failed. */
  storeCalled(store: string, operation: string, ms: number): void;
  /** A store has become reachable or unreachable. */
  storeIs(store: string, isUp: boolean): void;
}

/** Counts the tasks of a process by stage. Every task that enters a stage leaves it. */
export interface StageObserver {
  entered(stage: Stage): void;
  left(stage: Stage): void;
}

/** `ok` for status 2xx or 3xx, a class for other answers, and the reason for requests without an answer. */
export type FetchOutcome = 'ok' | 'http_4xx' | 'http_5xx' | FetchFailure;

/** The stages of a task in hand. In between (stage `other`) it is being checked against robots.txt, or is with the crawler. */
export const STAGES = ['admit', 'gate', 'fetch', 'offer', 'record', 'settle'] as const;
export type Stage = (typeof STAGES)[number];

/** Returns the outcome of a request that was answered with this status. */
export function fetchOutcomeOf(status: number): FetchOutcome {
  if (status >= 500) return 'http_5xx';
  return status >= 400 ? 'http_4xx' : 'ok';
}
