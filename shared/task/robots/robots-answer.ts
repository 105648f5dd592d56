import { MINUTE_MS } from '../durations.ts';
import { RETRY_AFTER_CAP_MS } from '../host/retry-after.ts';
import type { FetchFailure } from '../task/fetch-failure.ts';

/**
 * The meaning of an answer, or of none, to a request for a robots.txt (RFC 9309 section 2.3.1).
 *
 * | meaning  | then                                                                                             |
 * |----------|--------------------------------------------------------------------------------------------------|
 * | `parse`  | its rules apply                                                                                  |
 * | `allow`  | there are no rules                                                                               |
 * | `wait`   | there may be rules that we can't read: the host is paused and asked again later                  |
 * | `as_page`| a page of this origin would fail in the same way: the task ends as if its page had been requested |
 * | `again`  | the host was not asked, because of a shortage of ours                                            |
 */
export type RobotsMeaning = 'parse' | 'allow' | 'wait' | 'as_page' | 'again';

/** Maximum redirects followed for a robots.txt, as RFC 9309 section 2.3.1.2 asks for. Beyond that, there are no rules. */
export const MAX_ROBOTS_REDIRECTS = 5;

/**
 * Returns the meaning of an answer's status. Unlike other 4xx, 429 doesn't mean "no rules": a crawler that is asked to slow down
 * must not speed up.
 */
export function meaningOfStatus(status: number): RobotsMeaning {
  if (status >= 200 && status < 300) return 'parse';
  return status === 429 || (status >= 500 && status < 600) ? 'wait' : 'allow';
}

const MEANINGS: Readonly<Record<FetchFailure, RobotsMeaning>> = {
  timeout: 'wait',
  connection: 'wait',
  dns: 'wait',
  nxdomain: 'as_page',
  tls: 'as_page',
  // No robots.txt can be found, as after too many redirects.
  redirects: 'allow',
  bad_url: 'allow',
  encoding: 'wait',
  // These two can't happen: a robots.txt may have any type, and is cut if it is long.
  size: 'wait',
  content_type: 'wait',
  // The page has the same address and will itself be refused.
  private_address: 'allow',
  // The task waits, as it would if its page had been requested.
  network: 'as_page',
  exhausted: 'again',
  proxy: 'again',
  aborted: 'again',
};

/**
 * Returns the meaning of a request without an answer.
 *
 * @param redirected did the request fail at another address than the robots.txt's own? That says nothing about the pages
 */
export function meaningOfFailure(reason: FetchFailure, redirected: boolean): RobotsMeaning {
  const meaning = MEANINGS[reason];
  const isElsewhere = redirected && (reason === 'private_address' || (meaning === 'as_page' && reason !== 'network'));
  return isElsewhere ? 'wait' : meaning;
}

const BACKOFF_BASE_MS = 15_000;
const BACKOFF_CAP_MS = 15 * MINUTE_MS;
const SHORTEST_PAUSE_MS = 1_000;

/**
 * Returns how long a host is paused if its robots.txt can't be read: as long as the host asks for, otherwise 15 s, doubled each
 * time, up to a quarter of an hour.
 *
 * @param failures failures in a row, including this one
 * @param askedMs the time in its `Retry-After`, if any
 */
export function robotsPauseMs(failures: number, askedMs: number | undefined): number {
  const own = Math.min(BACKOFF_CAP_MS, BACKOFF_BASE_MS * 2 ** Math.max(0, failures - 1));
  return Math.min(RETRY_AFTER_CAP_MS, Math.max(SHORTEST_PAUSE_MS, askedMs ?? own));
}

const FIRST_WAIT_MS = 2_000;

/**
 * Returns how long a host waits if its robots.txt redirects to another host that has no turn free: as long as that host needs, and at
 * least 2 s, doubled each time, so that thousands of hosts that redirect to one don't all keep asking for its next turn. At
 * most a quarter of an hour, since the pause of that host may be ended by hand.
 *
 * @param waits waits in a row, including this one
 * @param random a number in [0, 1), so that the hosts don't all come back at once
 */
export function robotsWaitMs(waits: number, inMs: number, random: number): number {
  const own = Math.min(BACKOFF_CAP_MS, FIRST_WAIT_MS * 2 ** Math.max(0, waits - 1));
  return Math.round(Math.max(Math.min(inMs, BACKOFF_CAP_MS), own * (0.75 + random / 2)));
}
