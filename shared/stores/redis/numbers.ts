import * as frontier from '../../ports/frontier/frontier.ts';
import * as groups from '../../ports/frontier/groups.ts';
import * as missingSteps from '../../ports/frontier/missing-steps.ts';
import * as storeMemory from '../../ports/frontier/store-memory.ts';
import * as hostGate from '../../ports/host-gate.ts';
import * as runs from '../../ports/runs.ts';
import * as durations from '../../task/durations.ts';
import * as group from '../../task/group/group.ts';
import * as breaker from '../../task/host/breaker.ts';
import * as hostPace from '../../task/host/host-pace.ts';
import * as hostTrouble from '../../task/host/host-trouble.ts';
import * as retryAfter from '../../task/host/retry-after.ts';
import * as knownPage from '../../task/task/known-page.ts';
import * as fingerprint from '../../task/url/fingerprint.ts';
import * as policy from '../policy.ts';

/** Time for which a host's record is kept after its last use. */
const HOST_KEPT_MS = 10 * durations.MINUTE_MS;
/** Time until release looks again at a run or host with damaged data in Redis. */
const DAMAGED_LOOK_MS = durations.MINUTE_MS;
/** An offer repeated within this time gets the first one's answer. */
const ANSWER_KEPT_MS = durations.MINUTE_MS;
/** Marks of ended runs are kept in case a run is joined again: those of this many runs, and this many marks in all. */
const MOST_KEPT_RUNS = 100;
const MOST_KEPT_MARKS = 2_000_000;
/** The response cache may spend the budget of this time at once. */
const BURST_MS = 5 * durations.SECOND_MS;
/**
 * Redis is overloaded when an answer takes this long. A slot that was granted 100 ms ago is too old to be used, so workers would ask
 * again and again, and fetch nothing: the window shrinks, even if few slots then have something to do.
 */
const LAGGING_MS = 50;
const LEAST_WINDOW = 200;
/** The smallest share to which the window shrinks in one step. */
const LEAST_LAGGING_SHARE = 0.25;
/**
 * Tasks that wait for room come after all other retries: their score is the time of the next try plus one of these. The first is for
 * tasks whose offers may fill Redis to 95 %, the second for those whose offers leave room for others. Both are exact numbers, and
 * above every time.
 */
export const NO_ROOM_FROM = 2_000_000_000_000_000;
export const LEAVES_ROOM_FROM = 4_000_000_000_000_000;
const MEBIBYTE = 1_048_576;
/** Stands in place of a step's name; no step has this name. */
const NO_STEP = ' ';
/** A compact mark is a sign and two groups of digits, each below its bound: together they fit into 63 bits. */
const DIGEST_HIGH = 9_199_999_999;
const DIGEST_LOW = 1_000_000_000;

/**
 * The limits, leases and paces that scripts use, by their names there. Most belong to the domain, and the SQLite store uses them as
 * well: scripts can name everything that these modules export. Those above are Redis' own.
 */
const NUMBERS: Readonly<Record<string, unknown>> = {
  ...{ ...durations, ...policy, ...frontier, ...groups, ...hostGate, ...missingSteps, ...runs, ...storeMemory },
  ...{ ...group, ...breaker, ...hostPace, ...hostTrouble, ...retryAfter, ...knownPage, ...fingerprint },
  ANSWER_KEPT_MS,
  BURST_MS,
  DAMAGED_LOOK_MS,
  DIGEST_HIGH,
  DIGEST_LOW,
  HOST_KEPT_MS,
  LAGGING_MS,
  LEAST_LAGGING_SHARE,
  LEAST_WINDOW,
  LEAVES_ROOM_FROM,
  MEBIBYTE,
  MOST_KEPT_MARKS,
  MOST_KEPT_RUNS,
  NO_ROOM_FROM,
  NO_STEP,
};

/** Replaces these names in a script by their values: a variable for each would cost a little every time the script runs. */
export function withNumbers(script: string): string {
  return script.replace(/\b[A-Z][A-Z_]+\b/g, (name) => (name in NUMBERS ? JSON.stringify(NUMBERS[name]) : name));
}
