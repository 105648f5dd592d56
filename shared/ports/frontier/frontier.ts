import { MINUTE_MS } from '../../task/durations.ts';
import type { HostFault } from '../../task/host/breaker.ts';
import type { HostTrouble } from '../../task/host/host-trouble.ts';
import type { KnownPage, PageFacts } from '../../task/task/known-page.ts';
import type { TaskOffer } from '../../task/task/offer.ts';
import type { FailedReason, Outcome } from '../../task/task/outcome.ts';
import type { Task } from '../../task/task/task.ts';
import type { LeftOut } from '../runs.ts';

/**
 * Where tasks wait, and the ledger of those in flight. The rest of the fleet knows only this file.
 *
 * Every method is atomic and moves each task from one state to one other. It can be called again if its answer was lost:
 * nothing is done twice. A released task holds a lease under its release. Only a caller that names the release can settle
 * the task, and the first settle wins. A release is named by its number and its mark: see {@link ReleaseName}.
 *
 * ```
 * waiting ──release──▶ publishing ──queued──▶ queued ──admit──▶ working ──settle──▶ done │ skipped │ failed │ cancelled
 *    ▲                     │                    │                  │
 *    └── put back: settled as retry or defer, refused by admit, or its lease lapsed (reap) ──┘
 * ```
 *
 * Leases: publishing, 60 s; queued, the queue's TTL plus 5 minutes or the task's deadline plus 1 minute, whichever is sooner;
 * working, 60 s, renewed every 20 s.
 *
 * Implementations: `stores/redis` for a fleet, `stores/sqlite` for one machine. Both pass `test/contract/suites/frontier/frontier.contract.ts` and
 * follow one model, `test/contract/frontier/model`.
 */
export interface Frontier {
  /**
   * Takes the tasks that are new to the run, at most {@link MAX_OFFER} a call. Refuses the whole call, marking nothing, when
   * the run is neither running nor paused, when it is not the incarnation named, or when `parent` is no longer in flight.
   * Also refuses, and puts back, a `parent` whose earlier links the store has lost; see {@link LinkTally}.
   *
   * An incremental run also takes, once each, marked URLs that are due again: their `changedAt` is later than the last fetch,
   * or the last fetch is longer ago than the run's `recrawlAfterMs`. (With dedup `run`, a URL that is neither is known.)
   * It never takes one while a task for the same mark may be live in another run.
   */
  offer(run: string, tasks: readonly Offer[], options?: OfferOptions): Promise<OfferResult>;

  /** Leases due tasks, each under a new release number and with a verdict. Safe to call from every process at once. */
  release(options: ReleaseOptions): Promise<Release>;

  /** Notes, after the broker's confirm, that these releases are in a queue. Ones admitted or settled meanwhile stay as they are. */
  queued(run: string, releases: readonly ReleaseName[]): Promise<void>;

  /**
   * Decides whether a delivery is still current and its host may be asked now. A worker calls it first. If the answer is no,
   * puts the task back or counts it as cancelled. A release that was already admitted passes to the new caller: the broker
   * redelivers only after the previous holder lost the delivery.
   */
  admit(run: string, release: ReleaseName, worker: string): Promise<Admission>;

  /** Extends working leases to 60 s from now. */
  renew(run: string, releases: readonly ReleaseName[]): Promise<void>;

  /**
   * Reports a delivery's outcome. Whatever the reply, the caller's work on the delivery is over. `already`: the ledger no
   * longer holds this release, because it was settled before or its lease lapsed. `put_back`: the page was done, but the store
   * has lost some of its links (see {@link LinkTally}), so the task waits again at the cost of no attempt.
   */
  settle(run: string, release: ReleaseName, settlement: Settlement): Promise<SettleReply>;

  /** Settles as failed, for one reason, tasks that were released only to end. Ignores releases that the ledger doesn't hold. */
  fail(run: string, releases: readonly ReleaseName[], reason: FailedReason): Promise<void>;

  /** Puts back tasks whose lease lapsed, whatever the state of their run; at most 500 a call. Returns how many. */
  reap(): Promise<number>;

  /** Counts waiting tasks of cancelled runs as cancelled and frees their marks; at most 250 a call. Returns how many. */
  drain(): Promise<number>;
}

/**
 * One release of one task. Numbers only grow during a run, and start above the store's clock in microseconds, so a store that
 * lost its last writes does not reuse any. If its clock went back as well, numbers can be reused while old messages still
 * exist. That is why the mark is part of the name: a name whose mark differs from the ledger's under that number is stale.
 */
export interface ReleaseName {
  /** At most 2^53. */
  readonly release: number;
  readonly mark: string;
}

/** Returns the name of a released task's release. */
export function nameOf({
  release,
  task,
}: {
  readonly release: number;
  readonly task: Pick<Task, 'mark'>;
}): ReleaseName {
  return { release, mark: task.mark };
}

export type SettleReply = 'settled' | 'put_back' | 'already';

/**
 * The number of links of a page that one admission of it has offered. The ledger keeps its own count from the first offer
 * until the page's release ends. A store that restarts without its last second of writes may have lost links that a worker
 * has offered. The frontier notices by comparing the counts, and puts the page back instead of counting it as done.
 *
 * | call | the ledger must hold | and holds afterwards |
 * |---|---|---|
 * | the admission's first offer, with `links` 0 | anything | the stamp, and the number of links in this offer |
 * | a later offer | the same stamp, and at least `links` | its count or `links` plus this offer's, whichever is greater (a repeat adds nothing) |
 * | a settle as done | the same stamp, and at least `links` | |
 */
export interface LinkTally {
  /** Random text that identifies one admission: letters, digits, `-` and `_`. */
  readonly stamp: string;
  /** Number of links in the offers so far that were not refused, whether taken, known or left out. */
  readonly links: number;
}

/** Length of a working lease. */
export const WORKING_MS = MINUTE_MS;

/** Maximum tasks in one `offer`, which bounds how long one call occupies the frontier. */
export const MAX_OFFER = 500;

/** What a caller offers to the frontier: a task, or a text that is no URL. */
export type Offer =
  | TaskOffer
  /** A text that isn't a URL: counted as discovered, marked by the text itself, and released with verdict `malformed`. */
  | { readonly malformed: string; readonly problem: string };

export interface OfferOptions {
  /** The page that contains these links, and the tally of its admission so far. If its release is stale, the offer is refused. */
  readonly parent?: ReleaseName & { readonly tally: LinkTally };
  /** The run's incarnation; see {@link OpenedRun.incarnation}. Defaults to any. */
  readonly incarnation?: string | undefined;
  /** Takes nothing more once the run has discovered this many tasks. Set only for links. */
  readonly most?: number | undefined;
  /** Like `most`, but for links and seeds alike; see {@link RunOptions.limit}. */
  readonly limit?: number | undefined;
  /** Takes nothing from further hosts of a domain once the run has tasks on this many of its hosts. */
  readonly mostHosts?: number | undefined;
  /** The run has joins and the parent is in no group: the last part of the store's memory is reserved for pages in groups. */
  readonly leavesRoom?: boolean;
  /** This repeats an offer whose answer was lost: known URLs are not counted as duplicates again. */
  readonly repeat?: boolean;
}

export type OfferResult =
  /**
   * `leftOut`: new URLs neither taken nor marked, because the run has reached its `limit` or, for links, its `maxPages`, or
   * because their domain has reached its limit of hosts (`scope`). Contains only counts above 0.
   */
  | { readonly accepted: number; readonly known: number; readonly leftOut?: Partial<LeftOutAtOffer> }
  | { readonly refused: 'run' | 'parent' | 'full' };

/** The reasons for leaving a URL out that are found during an offer. */
export type LeftOutAtOffer = Pick<LeftOut, 'scope' | 'maxPages' | 'limit'>;

/** Returns the answer to an offer that was not refused. */
export function takenWith(accepted: number, known: number, leftOut: LeftOutAtOffer): OfferResult {
  const some = Object.entries(leftOut).filter(([, count]) => count > 0);
  return { accepted, known, ...(some.length === 0 ? {} : { leftOut: Object.fromEntries(some) }) };
}

export interface ReleaseOptions {
  /** Maximum tasks to release in this call. */
  readonly limit: number;
  /** Maximum tasks in flight across all runs, shared evenly between the runs that have due tasks. */
  readonly window: number;
  /** No worker is alive: runs that no worker has touched are released without waiting for their hosts' pace. */
  readonly unpaced: boolean;
  /**
   * The caller's name, if it calls repeatedly: of all such callers, one at a time searches for due tasks. A search that found
   * fewer than `limit` tasks reserves searching for its caller for {@link LOOK_LEASE_MS}. Without a name, the call always searches.
   */
  readonly looker?: string;
}

/** Longest time other callers leave the search for due tasks to one caller. If it has died, the next one takes over. */
export const LOOK_LEASE_MS = 250;

export interface Release {
  readonly tasks: readonly ReleasedTask[];
  /** Milliseconds until more tasks are due, as far as is known. */
  readonly nextLookMs: number;
  /** The frontier's time, in epoch milliseconds. Deadlines are measured by it, not by the caller's clock. */
  readonly now: number;
  /** Another caller is searching for all: don't call again before `nextLookMs` have passed. */
  readonly isLeftToOther?: true;
  /** Runs with unreadable data in the store. That data waits, and is tried again a minute later. Absent if there are none. */
  readonly damaged?: readonly DamagedRun[];
}

export interface DamagedRun {
  readonly run: string;
  /** The store's error message. */
  readonly why: string;
}

/**
 * `go`: publish the task. All others: publish a dead letter, then settle the task as failed. `host_down`: the host has
 * returned nothing but errors for too long; see {@link HostTrouble}.
 */
export type ReleaseVerdict = 'go' | 'deadline' | 'host_down' | 'malformed';

export interface ReleasedTask {
  readonly verdict: ReleaseVerdict;
  readonly release: number;
  readonly task: Task;
  readonly state: TaskState;
  /** Why a `malformed` text isn't a URL. */
  readonly problem?: string;
}

/** What the frontier stores about a task besides the task itself. */
export interface TaskState {
  /** Attempts counted so far. */
  readonly attempts: number;
  /**
   * Admissions since a worker last survived asking the host. More than a few mean that the task kills its worker. An
   * admission that ends before the host was asked is not counted.
   */
  readonly starts: number;
  /** Times the host has answered this task with "slow down". */
  readonly throttles: number;
  /** Epoch milliseconds. */
  readonly firstSeen: number;
  /** Epoch milliseconds, by the frontier's clock. */
  readonly deadline?: number;
}

/** From this many starts without a settle, a task runs alone in its process. */
export const ALONE_FROM_STARTS = 3;
/** After this many starts without a settle, a task fails as a crash loop. */
export const MAX_STARTS = 6;

/**
 * | verdict       | what the worker does                                                     |
 * |---------------|--------------------------------------------------------------------------|
 * | `work`        | fetches, alone in its process if `starts` has reached {@link ALONE_FROM_STARTS} |
 * | `deadline`, `crash_loop` | publishes a dead letter, then settles as failed               |
 * | `gone`        | acks: the ledger no longer holds this release                            |
 * | `put_back`    | acks: the run or the host is paused, and the task waits again            |
 * | `cancelled`   | acks: the run is cancelled                                               |
 * | `unknown_run` | fetches without a ledger: the store has lost the run                     |
 */
export type Admission =
  /** `incarnation` is the run's; see {@link OpenedRun.incarnation}. */
  /** `pausedMs` is how much longer the host is paused: always short enough to wait for. */
  | {
      readonly verdict: 'work';
      readonly incarnation: string;
      readonly state: TaskState;
      readonly pausedMs: number;
      /** The host has said "slow down" before, and has given a healthy answer since, within the last hour. */
      readonly answersOthers: boolean;
      /** What earlier runs recorded about the page; only in an incremental run. */
      readonly known?: KnownPage;
    }
  | { readonly verdict: 'deadline' | 'crash_loop'; readonly incarnation: string; readonly state: TaskState }
  | { readonly verdict: 'gone' | 'put_back' | 'cancelled' | 'unknown_run' };

export interface Settlement {
  readonly outcome: Outcome;
  /** Number of body bytes fetched. */
  readonly bytes?: number;
  /** Whether the host gave a healthy answer. Absent if it wasn't asked. */
  readonly hostAnswered?: boolean;
  /** The host or its robots.txt has answered in this visit, healthily or not. It may have been silent afterwards. */
  readonly hostSpoke?: boolean;
  /**
   * Why the host gave no healthy answer; without it, an unhealthy answer is assumed (kind `answered`). Decides when the host
   * counts as down. With kind `outage`, nothing else in the settlement counts against the host.
   */
  readonly hostTrouble?: HostTrouble;
  /**
   * What is wrong with the host. Five in a row open its breaker: the host is paused, then tried by a single task at a time
   * until an answer closes the breaker. Any answer without a fault resets the count.
   */
  readonly hostFault?: HostFault;
  /** The answer by which the host asked us to slow down, such as `HTTP 429`. Doubles its interval; each healthy answer shortens it again. */
  readonly slowDown?: string;
  /** The failed attempt, for people. Absent if no attempt was made. */
  readonly attempt?: AttemptNote;
  /** Milliseconds until the host can be asked again. None of its tasks is released sooner. */
  readonly hostFreeInMs?: number;
  /**
   * The task as redirects have changed it, with another host and other {@link Task.redirects}. Everything this settlement
   * says about a host is about that one, and a task that is put back waits there.
   */
  readonly moved?: Task;
  /** Tally of the links that the page's admission has offered. Absent if there were none. Only `done` depends on it. */
  readonly tally?: LinkTally;
  /**
   * This task's input to the joins of its group, in JSON. Only with `done`, and only if one of them takes the task's step. A
   * join can have one, too, for other joins.
   */
  readonly input?: string;
  /** The mark the task has claimed after redirects, repeated in case the store lost its last second. Only with `done`. */
  readonly claimed?: string;
  /**
   * The store was full and refused the page's links. Says about how many bytes they take, and whether the offer had
   * {@link OfferOptions.leavesRoom}. Only with `defer`: a store that can tell how full it is keeps the task until it has room.
   */
  readonly refused?: { readonly bytes: number; readonly leavesRoom: boolean };
  /** Number of links of the page that were not offered, by reason. */
  readonly leftOut?: Pick<LeftOut, 'depth' | 'scope' | 'condition'>;
  /** What to remember about the page for later runs. Only with `done` and `skipped`, and only in an incremental run. */
  readonly page?: PageVisit;
}

/** A page that an incremental run has visited. */
export interface PageVisit extends PageFacts {
  /** Milliseconds since the request for the page began. */
  readonly askedMsAgo: number;
  /** Body bytes that did not have to be sent again. */
  readonly bytesSaved: number;
}

/** One failed attempt, kept for people in `attempts:<mark>` in Redis and in the dead letter. */
export interface AttemptNote {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly worker: string;
  readonly reason: string;
  readonly status?: number;
  readonly error?: string;
  /** Where in the crawler the step failed. If the page fails with this attempt, it is counted under this place. */
  readonly place?: string;
}

/** An optional ability: a redirected page takes the mark of the page it leads to, so that this one isn't fetched again. */
export interface Claims {
  /**
   * Takes a mark for the task that holds this release, until that task ends: `done` and `skipped` keep it, `failed` and
   * `cancelled` free it. `taken`: another task has or had it. `stale`: the ledger doesn't hold this release.
   */
  claim(run: string, release: ReleaseName, mark: string): Promise<'claimed' | 'taken' | 'stale'>;
  /** Returns whether {@link claim} would answer `taken`. Changes nothing. */
  isTaken(run: string, release: ReleaseName, mark: string): Promise<boolean>;
}

/** An optional ability, for unreadable messages of which only the release number is known. */
export interface Ledger {
  /** Returns the mark of the task in flight under a release number; `undefined` if there is none. */
  markOf(run: string, release: number): Promise<string | undefined>;
}

/** An optional ability: the failed attempts of a task, newest first, at most ten. */
export interface AttemptHistory {
  attempts(mark: string): Promise<readonly AttemptNote[]>;
}
