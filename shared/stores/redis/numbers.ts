import { WORKING_MS } from '../../ports/frontier.ts';
import { MAX_GROUP_BYTES, MOST_MISSING } from '../../ports/groups.ts';
import { LONGEST_PAUSE_MS } from '../../ports/host-gate.ts';
import { MISSING_GAP_MS } from '../../ports/missing-steps.ts';
import { MOST_STEP_COUNTS, MOST_STEP_FAILURES } from '../../ports/runs.ts';
import { FULL_AT, FULL_FOR_OTHERS_AT } from '../../ports/store-memory.ts';
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../task/durations.ts';
import { GROUP_LENGTH, JOIN_HOST, OF_RUN } from '../../task/group/group.ts';
import {
  FAULTS_TO_OPEN,
  MOST_HOSTS_TRIED,
  OPEN_BASE_MS,
  OPEN_CAP_MS,
  OPEN_SPREAD,
  PAGE_FAULT,
  PROBE_ADMITTED_MS,
  PROBE_RELEASED_MS,
} from '../../task/host/breaker.ts';
import {
  ANSWERED_LATELY_MS,
  LONGEST_RESPONSE_MS,
  SLOW_END_MS,
  SLOW_START_MS,
  SLOWEST_MS,
  THROTTLE_BASE_MS,
  THROTTLE_CAP_MS,
} from '../../task/host/host-pace.ts';
import {
  MOST_NAMED_DOWN,
  SILENT_GIVE_UP_MS,
  SILENT_PAUSE_MS,
  SILENT_TRIES_SPAN_MS,
} from '../../task/host/host-trouble.ts';
import { RETRY_AFTER_CAP_MS } from '../../task/host/retry-after.ts';
import { PAGE_RETENTION_MS } from '../../task/task/known-page.ts';
import { MALFORMED_HOST, MAX_MALFORMED_MARK_LENGTH } from '../../task/url/fingerprint.ts';
import {
  FAST_LEAD_MS,
  FIRST_WINDOW,
  HIGHEST_START,
  IDLE_LOOK_MS,
  INTERVAL_KNOWN_MS,
  LATE_MS,
  LEAD_MS,
  LEAST_WINDOW_SHARE,
  MOST_LOOKS,
  MOST_RETRIES_WOKEN,
  MOST_RUNS_LOOKED_AT,
  PUBLISHING_MS,
  QUEUED_PAST_DEADLINE_MS,
  ROOM_LOOK_MS,
  SHORTEST_PLACE_WAIT_MS,
  UNKNOWN_RESPONSE_MS,
  WINDOW_EVERY_MS,
  WINDOW_GROWS_TO,
  WINDOW_SHRINKS_TO,
} from '../policy.ts';

/** How long what is known of a host is kept after its last use. */
const HOST_KEPT_MS = 10 * MINUTE_MS;
/** An offer repeated within this time gets the first one's answer. */
const ANSWER_KEPT_MS = MINUTE_MS;
/** Marks of ended runs are kept in case a run is joined again: those of this many runs, and this many marks in all. */
const MOST_KEPT_RUNS = 100;
const MOST_KEPT_MARKS = 2_000_000;
/** The response cache may spend the budget of this time at once. */
const BURST_MS = 5 * SECOND_MS;
/**
 * Redis has more to do than it can when an answer takes this long. A slot that was granted 100 ms ago is too old to be used, so that
 * workers would ask and ask, and fetch nothing: the window shrinks, however few slots have something to do then.
 */
const LAGGING_MS = 50;
const LEAST_WINDOW = 200;
/** What it shrinks to at most, at once. */
const LEAST_LAGGING_SHARE = 0.25;
/**
 * Tasks that wait for room stand behind all other retries, each at one of these and the time of its next try: those for which Redis
 * may be full to 95 %, and those of which the offers leave room for others. Both are exact, and above every time.
 */
export const NO_ROOM_FROM = 2_000_000_000_000_000;
export const LEAVES_ROOM_FROM = 4_000_000_000_000_000;
const MEBIBYTE = 1_048_576;
/** In the place of a step's name: none is named so. */
const NO_STEP = ' ';
/** A compact mark is a sign and two groups of digits, each below its bound: together they fit into 63 bits. */
const DIGEST_HIGH = 9_199_999_999;
const DIGEST_LOW = 1_000_000_000;

/**
 * The limits, leases and paces that scripts use, under the names they have there. Most belong to the domain, and the SQLite
 * store uses them, too; those above are Redis' own.
 */
const NUMBERS: Readonly<Record<string, number | string>> = {
  ANSWER_KEPT_MS,
  ANSWERED_LATELY_MS,
  BURST_MS,
  DAY_MS,
  DIGEST_HIGH,
  DIGEST_LOW,
  FAST_LEAD_MS,
  FAULTS_TO_OPEN,
  FIRST_WINDOW,
  FULL_AT,
  FULL_FOR_OTHERS_AT,
  GROUP_LENGTH,
  HIGHEST_START,
  HOST_KEPT_MS,
  IDLE_LOOK_MS,
  INTERVAL_KNOWN_MS,
  JOIN_HOST,
  LAGGING_MS,
  LATE_MS,
  LEAD_MS,
  LEAST_LAGGING_SHARE,
  LEAST_WINDOW,
  LEAST_WINDOW_SHARE,
  LEAVES_ROOM_FROM,
  LONGEST_PAUSE_MS,
  LONGEST_RESPONSE_MS,
  MALFORMED_HOST,
  MAX_GROUP_BYTES,
  MAX_MALFORMED_MARK_LENGTH,
  MEBIBYTE,
  MINUTE_MS,
  MISSING_GAP_MS,
  MOST_HOSTS_TRIED,
  MOST_KEPT_MARKS,
  MOST_KEPT_RUNS,
  MOST_LOOKS,
  MOST_MISSING,
  MOST_NAMED_DOWN,
  MOST_RETRIES_WOKEN,
  MOST_RUNS_LOOKED_AT,
  MOST_STEP_COUNTS,
  MOST_STEP_FAILURES,
  NO_ROOM_FROM,
  NO_STEP,
  OF_RUN,
  OPEN_BASE_MS,
  OPEN_CAP_MS,
  OPEN_SPREAD,
  PAGE_FAULT,
  PAGE_RETENTION_MS,
  PROBE_ADMITTED_MS,
  PROBE_RELEASED_MS,
  PUBLISHING_MS,
  QUEUED_PAST_DEADLINE_MS,
  RETRY_AFTER_CAP_MS,
  ROOM_LOOK_MS,
  SECOND_MS,
  SHORTEST_PLACE_WAIT_MS,
  SILENT_GIVE_UP_MS,
  SILENT_PAUSE_MS,
  SILENT_TRIES_SPAN_MS,
  SLOW_END_MS,
  SLOW_START_MS,
  SLOWEST_MS,
  THROTTLE_BASE_MS,
  THROTTLE_CAP_MS,
  UNKNOWN_RESPONSE_MS,
  WINDOW_EVERY_MS,
  WINDOW_GROWS_TO,
  WINDOW_SHRINKS_TO,
  WORKING_MS,
};

/** A script with the values of these names in their places: a variable for each would cost a little every time the script runs. */
export function withNumbers(script: string): string {
  return script.replace(/\b[A-Z][A-Z_]+\b/g, (name) => (name in NUMBERS ? JSON.stringify(NUMBERS[name]) : name));
}
