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
 * Every method is atomic, moves a task from one state to one other, and may be repeated after its answer was lost: what
 * was done is not done again. A released task holds a lease under its release; only a caller that names the release can
 * settle it, and the first settle wins. A release is named by its number and its mark: see {@link ReleaseName}.
 *
 * ```
 * waiting ──release──▶ publishing ──queued──▶ queued ──admit──▶ working ──settle──▶ done │ skipped │ failed │ cancelled
 *    ▲                     │                    │                  │
 *    └── put back: settled as retry or defer, refused by admit, or its lease lapsed (reap) ──┘
 * ```
 *
 * Leases: publishing 60 s; queued the queue's TTL and 5 minutes, or the task's deadline and 1 minute, whichever is sooner;
 * working 60 s, renewed every 20 s.
 *
 * Implementations: `stores/redis` for a fleet, `stores/sqlite` for one machine. Both pass `test/contract/suites/frontier/frontier.contract.ts` and
 * follow one model, `test/contract/frontier/model`.
 */
export interface Frontier {
  /**
   * Takes tasks that the run doesn't know yet, at most {@link MAX_OFFER} a call. Refused as a whole, with nothing marked,
   * when the run is neither running nor paused, or another incarnation than the one named, or when `parent` is no longer
   * in flight. A `parent` whose earlier links the store lacks is refused as well, and put back; see {@link LinkTally}.
   *
   * An incremental run also takes, each once, marked URLs that are due again: `changedAt` is later than their last fetch, or
   * that is older than the run's `recrawlAfterMs`. (With dedup `run`, a URL that is neither is known.)
   * Never while a task for the same mark may be live in another run.
   */
  offer(run: string, tasks: readonly Offer[], options?: OfferOptions): Promise<OfferResult>;

  /** Leases due tasks, each under a new release number, with a verdict. Safe to call from every process at once. */
  release(options: ReleaseOptions): Promise<Release>;

  /** After the broker's confirm: these releases wait in a queue now. Those settled or admitted meanwhile stay as they are. */
  queued(run: string, releases: readonly ReleaseName[]): Promise<void>;

  /**
   * The first step with a delivery: is it still current, may its host be asked now? Puts the task back, or counts it
   * cancelled, when the answer is no. A release already admitted is taken over: the broker redelivers only what its
   * holder lost.
   */
  admit(run: string, release: ReleaseName, worker: string): Promise<Admission>;

  /** Makes working leases last another 60 s. */
  renew(run: string, releases: readonly ReleaseName[]): Promise<void>;

  /**
   * Reports a delivery's outcome. `already` means that the ledger no longer holds this release: it was settled before, or
   * its lease lapsed and the task was released again under another number. `put_back`: the page was done, but the store lacks
   * links of it, see {@link LinkTally}; so the task waits again, at no attempt. The caller is done with it in any case.
   */
  settle(run: string, release: ReleaseName, settlement: Settlement): Promise<SettleReply>;

  /** Settles tasks that were released only to end, all for one reason; those that the ledger doesn't hold stay as they are. */
  fail(run: string, releases: readonly ReleaseName[], reason: FailedReason): Promise<void>;

  /** Puts back tasks whose lease lapsed, in whatever state their run is; at most 500 a call. Returns how many. */
  reap(): Promise<number>;

  /** Counts waiting tasks of cancelled runs as cancelled and frees their marks; at most 250 a call. Returns how many. */
  drain(): Promise<number>;
}

/**
 * One release of one task. Numbers only grow during a run, and begin above the store's clock in microseconds, so that a
 * store that lost its last writes reuses none of them. If it lost its time as well, numbers are reused while old messages
 * may still exist: so the mark counts, too. A name whose mark differs from the ledger's under that number is stale.
 */
export interface ReleaseName {
  /** At most 2^53. */
  readonly release: number;
  readonly mark: string;
}

/** The name of a released task's release. */
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
 * How many links of a page one admission of it has offered. The ledger keeps it as well, from the first offer until the page's
 * release ends. A store that came back without its last second lacks links that a worker believes offered: by the tally
 * it finds that out, and puts the page back instead of counting it as done.
 *
 * | call | the ledger must hold | and holds from then on |
 * |---|---|---|
 * | an offer with `links` 0, the admission's first | anything | the stamp, and this offer's links |
 * | a later offer | the same stamp, and at least as many links | the greater of what it held, and of `links` and this offer's: one that is sent again adds nothing |
 * | a settle as done | the same stamp, and at least as many links | |
 */
export interface LinkTally {
  /** Drawn for one admission, and never again: letters, digits, `-` and `_`. */
  readonly stamp: string;
  /** Links in the offers so far that the run didn't refuse: taken ones, known ones, and those left out. */
  readonly links: number;
}

/** How long a worker's task is left alone if its lease isn't renewed. */
export const WORKING_MS = MINUTE_MS;

/** Tasks in one `offer`: a bound on how long one call may hold the frontier. */
export const MAX_OFFER = 500;

/** A URL for the frontier. */
export type Offer =
  | TaskOffer
  /** A text that isn't a URL: counted as discovered, marked by its text, and released with verdict `malformed`. */
  | { readonly malformed: string; readonly problem: string };

export interface OfferOptions {
  /** The page that these links were found in, and what its admission has offered before. Refused when its release is stale. */
  readonly parent?: ReleaseName & { readonly tally: LinkTally };
  /** The run's incarnation; see {@link OpenedRun.incarnation}. Left out: any. */
  readonly incarnation?: string | undefined;
  /** Takes nothing more once the run has discovered this many tasks: for links. */
  readonly most?: number | undefined;
  /** As `most`, for links and seeds alike; see {@link RunOptions.limit}. */
  readonly limit?: number | undefined;
  /** Takes nothing from further hosts of a domain once the run has tasks of this many. */
  readonly mostHosts?: number | undefined;
  /** The parent is of no group, in a run that has joins: it leaves the rest of the store's memory to those that are. */
  readonly leavesRoom?: boolean;
  /** A repeat of an offer whose answer was lost: known URLs are not counted as duplicates again. */
  readonly repeat?: boolean;
}

export type OfferResult =
  /**
   * `leftOut`: unknown ones, neither taken nor marked, since the run is at its `limit`, or for links at its `maxPages`, or
   * their domain at its limit of hosts (`scope`). Only what is above 0 is there.
   */
  | { readonly accepted: number; readonly known: number; readonly leftOut?: Partial<LeftOutAtOffer> }
  | { readonly refused: 'run' | 'parent' | 'full' };

/** What is found at an offer to be left out. */
export type LeftOutAtOffer = Pick<LeftOut, 'scope' | 'maxPages' | 'limit'>;

/** The answer to an offer that was not refused. */
export function takenWith(accepted: number, known: number, leftOut: LeftOutAtOffer): OfferResult {
  const some = Object.entries(leftOut).filter(([, count]) => count > 0);
  return { accepted, known, ...(some.length === 0 ? {} : { leftOut: Object.fromEntries(some) }) };
}

export interface ReleaseOptions {
  /** At most this many tasks now. */
  readonly limit: number;
  /** At most this many tasks of all runs may be out, shared evenly between the runs that have due ones. */
  readonly window: number;
  /** No worker is alive: a run that no worker has touched is released without waiting for its hosts' pace. */
  readonly unpaced: boolean;
  /**
   * The caller, if it calls repeatedly: one of them looks for all. After a look that found less than its `limit`, looking
   * is left to the same caller for {@link LOOK_LEASE_MS}. Left out: it looks in any case.
   */
  readonly looker?: string;
}

/** How long others wait for the caller that looks for due tasks: if it died, the next one looks. */
export const LOOK_LEASE_MS = 250;

export interface Release {
  readonly tasks: readonly ReleasedTask[];
  /** Milliseconds until anything more is due, as far as is known. */
  readonly nextLookMs: number;
  /** The frontier's time, in epoch milliseconds: deadlines are measured by it, not by the caller's clock. */
  readonly now: number;
  /** Another caller looks for all: don't ask before `nextLookMs` have passed. */
  readonly isLeftToOther?: true;
  /** Runs of which the store has something that can't be read: it waits, and is looked at again a minute later. Left out if there are none. */
  readonly damaged?: readonly DamagedRun[];
}

export interface DamagedRun {
  readonly run: string;
  /** In the store's words. */
  readonly why: string;
}

/**
 * `go`: publish it. All others: publish a dead letter, then settle it as failed. `host_down`: its host gave nothing but
 * errors for too long; see {@link HostTrouble}.
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

/** What the frontier remembers of a task beside the task itself. */
export interface TaskState {
  /** Attempts counted so far. */
  readonly attempts: number;
  /**
   * Admissions since a worker last survived asking its host; more than a few mean that the task kills its worker. A task
   * that is put back before its host was asked gets its unused start back.
   */
  readonly starts: number;
  /** Times that its host answered it with "slow down". */
  readonly throttles: number;
  /** Epoch milliseconds. */
  readonly firstSeen: number;
  /** Epoch milliseconds, by the frontier's clock. */
  readonly deadline?: number;
}

/** From this many starts without a settle on, a task runs alone in its process. */
export const ALONE_FROM_STARTS = 3;
/** After this many starts without a settle, a task fails as a crash loop. */
export const MAX_STARTS = 6;

/**
 * | verdict       | what the worker does                                                     |
 * |---------------|--------------------------------------------------------------------------|
 * | `work`        | fetches; alone in its process if `starts` has reached {@link ALONE_FROM_STARTS} |
 * | `deadline`, `crash_loop` | dead letter, then settle as failed                            |
 * | `gone`        | acks: another release, or no task at all, stands in the ledger           |
 * | `put_back`    | acks: the run or the host is paused, the task waits again                |
 * | `cancelled`   | acks: the run is                                                         |
 * | `unknown_run` | fetches without a ledger: the store has lost the run                     |
 */
export type Admission =
  /** `incarnation`: the run's; see {@link OpenedRun.incarnation}. */
  /** `pausedMs`: the host is still paused, short enough to wait for. */
  | {
      readonly verdict: 'work';
      readonly incarnation: string;
      readonly state: TaskState;
      readonly pausedMs: number;
      /** The host said "slow down" before, and has given a healthy answer since, within the last hour. */
      readonly answersOthers: boolean;
      /** What an incremental run knows of the page from earlier ones. */
      readonly known?: KnownPage;
    }
  | { readonly verdict: 'deadline' | 'crash_loop'; readonly incarnation: string; readonly state: TaskState }
  | { readonly verdict: 'gone' | 'put_back' | 'cancelled' | 'unknown_run' };

export interface Settlement {
  readonly outcome: Outcome;
  /** Body bytes that were fetched. */
  readonly bytes?: number;
  /** Did the host give a healthy answer? Left out when it wasn't asked. */
  readonly hostAnswered?: boolean;
  /** The host has answered in this visit, healthily or not, or its robots.txt has; it may have been silent afterwards. */
  readonly hostSpoke?: boolean;
  /**
   * Why it gave no healthy answer; left out: it answered. Decides when the host is down. With `outage`, nothing else is taken
   * as a sign against the host.
   */
  readonly hostTrouble?: HostTrouble;
  /**
   * What is wrong with the host. Five in a row open its breaker: the host is paused, and then tried by a single task,
   * until an answer closes it. Any answer without a fault resets the count.
   */
  readonly hostFault?: HostFault;
  /** The host asked to be slowed: what it said. Its interval is doubled, and shortened again with each healthy answer. */
  readonly slowDown?: string;
  /** The failed attempt, for people. Left out when no attempt was made. */
  readonly attempt?: AttemptNote;
  /** Milliseconds before the host can be asked; none of its tasks is released sooner. */
  readonly hostFreeInMs?: number;
  /**
   * Redirects have led the task elsewhere: its new form, with another host and other {@link Task.redirects}. What this
   * settlement says about a host is about that one, and a task that is put back waits there.
   */
  readonly moved?: Task;
  /** What the page's admission has offered; left out if nothing. Only `done` depends on it. */
  readonly tally?: LinkTally;
  /**
   * What the joins of its group get of it, in JSON: only with `done`, and of a task that one of them takes. For a join: what
   * other joins get of it.
   */
  readonly input?: string;
  /** The mark that redirects have led it to claim; a store that lost its last second may lack it. Only with `done`. */
  readonly claimed?: string;
  /**
   * The store was full, and refused its links: about how many bytes they take, and whether its offers leave room for others (see
   * {@link OfferOptions.leavesRoom}). Only with `defer`: a store that can tell keeps the task until it has room.
   */
  readonly refused?: { readonly bytes: number; readonly leavesRoom: boolean };
  /** Links of the page that were not offered, by why. */
  readonly leftOut?: Pick<LeftOut, 'depth' | 'scope' | 'condition'>;
  /** What is remembered of the page from now on; only with `done` and `skipped`, and only in an incremental run. */
  readonly page?: PageVisit;
}

/** A page that an incremental run has visited. */
export interface PageVisit extends PageFacts {
  /** How long ago the request for it began. */
  readonly askedMsAgo: number;
  /** Bytes of the body that did not have to be sent again. */
  readonly bytesSaved: number;
}

/** One failed attempt, kept for people: `attempts:<url>` in Redis, and the dead letter. */
export interface AttemptNote {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly worker: string;
  readonly reason: string;
  readonly status?: number;
  readonly error?: string;
  /** Where in the crawler its step failed: the page that fails by this attempt is counted there. */
  readonly place?: string;
}

/** An optional ability: a redirected page takes the mark of the page it leads to, so that that one isn't fetched again. */
export interface Claims {
  /**
   * Takes a mark for the task that holds this release, until that task ends: `done` and `skipped` keep it, `failed` and
   * `cancelled` free it. `taken`: another task has it, or had it. `stale`: the ledger doesn't hold this release.
   */
  claim(run: string, release: ReleaseName, mark: string): Promise<'claimed' | 'taken' | 'stale'>;
  /** Would {@link claim} say `taken`? Changes nothing. */
  isTaken(run: string, release: ReleaseName, mark: string): Promise<boolean>;
}

/** An optional ability, for unreadable messages of which only the number is known. */
export interface Ledger {
  /** The mark of the task that is in flight under a number; nothing if none is. */
  markOf(run: string, release: number): Promise<string | undefined>;
}

/** An optional ability: the failed attempts of a task, newest first, at most ten. */
export interface AttemptHistory {
  attempts(mark: string): Promise<readonly AttemptNote[]>;
}
