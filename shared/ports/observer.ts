import type { FetchFailure } from '../task/task/fetch-failure.ts';
import type { Outcome } from '../task/task/outcome.ts';

/**
 * Is shown what one process does, for whoever counts and times it.
 *
 * Every method is cheap, never throws, and may be called at any time: it is called several times a page. No call names a host, a
 * URL or a run, since what is counted is kept for ever, once for each combination of names. Implementation:
 * `metrics/prometheus-observer.ts`.
 */
export interface Observer {
  /** Deliveries came to an outcome that the frontier took, for a reason if there is one. */
  settled(outcome: Outcome['kind'], reason: string, tasks: number): void;
  /** A request is over, robots.txt and sitemaps included. */
  fetched(outcome: FetchOutcome, durationMs: number): void;
  /** Bytes of a body have arrived, counted after decompression. */
  received(bytes: number): void;
  /** A request has waited for its host's turn, whether it got one or not. */
  gateWaited(ms: number): void;
  /** Tasks were released. */
  released(tasks: number): void;
  /** Tasks were put back, since their leases had lapsed. */
  lapsed(tasks: number): void;
  /** A record was stored. */
  recordWritten(sink: string): void;
  /** A store answered a call, or failed it. */
  storeCalled(store: string, operation: string, ms: number): void;
  /** A store can be reached, or no longer. */
  storeIs(store: string, isUp: boolean): void;
}

/** What counts the tasks of a process by where they are: each that enters a stage leaves it. */
export interface StageObserver {
  entered(stage: Stage): void;
  left(stage: Stage): void;
}

/** `ok`: status 2xx or 3xx. Other answers by their class, and what got none by its reason. */
export type FetchOutcome = 'ok' | 'http_4xx' | 'http_5xx' | FetchFailure;

/** Where a task in hand is. The rest, `other`: with the rules of robots.txt, or the crawler. */
export const STAGES = ['admit', 'gate', 'fetch', 'offer', 'record', 'settle'] as const;
export type Stage = (typeof STAGES)[number];

/** Of the answer with this status. */
export function fetchOutcomeOf(status: number): FetchOutcome {
  if (status >= 500) return 'http_5xx';
  return status >= 400 ? 'http_4xx' : 'ok';
}
