import { MINUTE_MS } from '../task/durations.ts';
import type { HostFault } from '../task/host/breaker.ts';
import type { KnownPage, PageFacts } from '../task/task/known-page.ts';
import type { TaskOffer } from '../task/task/offer.ts';
import type { FailedReason, Outcome } from '../task/task/outcome.ts';
import type { Task } from '../task/task/task.ts';

/**
 * Where tasks wait, and the ledger of those in flight. The rest of the fleet knows only this file.
 *
 * Every method is atomic, moves a task from one state to one other, and may be repeated after its answer was lost: what
 * was done is not done again. A task out of the frontier holds a lease under a release; only who names that can settle it,
 * and the first settle wins. A release is named by its number and its mark: see {@link ReleaseName}.
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
 * Implementations: `stores/redis` for a fleet, `stores/sqlite` for one machine. Both pass `test/contract/frontier.contract.ts` and
 * follow one model, `test/contract/model`.
 */
export interface Frontier {
  /**
   * Takes tasks that the run doesn't know yet, at most {@link MAX_OFFER} a call. Refused as a whole, with nothing marked,
   * when the run is neither running nor paused, or not the incarnation that is meant, or when `parent` is no longer in flight.
   *
   * An incremental run also takes, each once, marked URLs that are due again: `changedAt` is later than their last fetch, or
   * that is older than the run's `recrawlAfterMs`. (With dedup `run`, what is younger than that and not changed is known.)
   * Never while a task for the same mark may be live in another run.
   */
  offer(run: string, tasks: readonly Offer[], options?: OfferOptions): Promise<OfferResult>;

  /** Leases due tasks, each under a new release number, with a verdict. Safe to call from every process at once. */
  release(options: ReleaseOptions): Promise<Release>;

  /** After the broker's confirm: these releases wait in a queue now. Those settled or admitted meanwhile stay as they are. */
  queued(run: string, releases: readonly ReleaseName[]): Promise<void>;

  /**
   * The first thing done with a delivery: is it still wanted, may its host be asked now? Puts the task back, or counts it
   * cancelled, when the answer is no. A release already admitted is taken over: the broker redelivers only what its
   * holder lost.
   */
  admit(run: string, release: ReleaseName, worker: string): Promise<Admission>;

  /** Makes working leases last another 60 s. */
  renew(run: string, releases: readonly ReleaseName[]): Promise<void>;

  /**
   * Tells what a delivery came to. `already` means that the ledger no longer holds this release: it was settled before,
   * or its lease lapsed and the task went out again under another number. Either way the caller is done with it.
   */
  settle(run: string, release: ReleaseName, settlement: Settlement): Promise<'settled' | 'already'>;

  /** Settles tasks that were released only to end, all for one reason; those that the ledger doesn't hold stay as they are. */
  fail(run: string, releases: readonly ReleaseName[], reason: FailedReason): Promise<void>;

  /** Puts back tasks whose lease lapsed, in whatever state their run is; at most 500 a call. Returns how many. */
  reap(): Promise<number>;

  /** Counts waiting tasks of cancelled runs as cancelled and frees their marks; at most 250 a call. Returns how many. */
  drain(): Promise<number>;
}

/**
 * One release of one task. Numbers grow for as long as a run lasts, and begin above the store's clock in microseconds, so that a
 * store that lost what it knew last gives none of them again. Should it have lost its time as well, numbers come again
 * while messages of the first time are still about: so the mark counts, too. What names another task than the ledger has
 * under that number is stale.
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

/** How long a task is left alone that a worker has, and whose lease it doesn't renew. */
export const WORKING_MS = MINUTE_MS;

/** Tasks in one `offer`: a bound on how long one call may hold the frontier. */
export const MAX_OFFER = 500;

/** A URL for the frontier. */
export type Offer =
  | TaskOffer
  /** A text that is no URL: counted as discovered, marked by its text, and released with verdict `malformed`. */
  | { readonly malformed: string; readonly problem: string };

export interface OfferOptions {
  /** The release whose page these links were found in: the offer is refused when it is stale. */
  readonly parent?: ReleaseName;
  /** The incarnation of the run that is meant; see {@link OpenedRun.incarnation}. Left out, any. */
  readonly incarnation?: string | undefined;
  /** Takes nothing more once the run has discovered so many tasks. */
  readonly most?: number;
  /** Takes nothing of further hosts of a domain once the run has tasks of so many. */
  readonly mostHosts?: number;
  /** A repeat of an offer whose fate is unknown: what is known by now is not counted as a duplicate again. */
  readonly repeat?: boolean;
}

export type OfferResult =
  /**
   * `beyond`: left out, and not marked, since the run has as many as it may; `leftOut`: since their domain has as many hosts.
   * Left out if there are none.
   */
  | { readonly accepted: number; readonly known: number; readonly beyond?: number; readonly leftOut?: number }
  | { readonly refused: 'run' | 'parent' | 'full' };

export interface ReleaseOptions {
  /** At most so many tasks now. */
  readonly limit: number;
  /** At most so many tasks of all runs may be out, shared evenly between the runs that want some. */
  readonly window: number;
  /** No worker is alive: a run that none has touched is released without waiting for its hosts' pace. */
  readonly unpaced: boolean;
  /**
   * Who asks, if it asks again and again: one looks for all. After a look that found less than its `limit`, it is left to
   * the same looker for {@link LOOK_LEASE_MS}. Left out, it looks in any case.
   */
  readonly looker?: string;
}

/** The one that looks for due tasks is waited for so long: if it died, the next one looks. */
export const LOOK_LEASE_MS = 250;

export interface Release {
  readonly tasks: readonly ReleasedTask[];
  /** Nothing more is due before so many milliseconds have passed, as far as is known. */
  readonly nextLookMs: number;
  /** The frontier's time, in epoch milliseconds: deadlines are by it, whatever the caller's own clock says. */
  readonly now: number;
  /** Another looks for all: it is no use to ask before `nextLookMs` have passed. */
  readonly isLeftToOther?: true;
}

/**
 * `go`: publish it. All others: publish a dead letter, then settle it as failed. `host_down`: its host gave nothing but
 * errors for too long.
 */
export type ReleaseVerdict = 'go' | 'deadline' | 'host_down' | 'malformed';

export interface ReleasedTask {
  readonly verdict: ReleaseVerdict;
  readonly release: number;
  readonly task: Task;
  readonly state: TaskState;
  /** Why a `malformed` text is no URL. */
  readonly problem?: string;
}

/** What the frontier remembers of a task beside the task itself. */
export interface TaskState {
  /** Attempts counted so far. */
  readonly attempts: number;
  /**
   * Admissions since its host was asked last and the worker lived to tell; more than a few mean that the task kills its
   * worker. A task that is put back before its host was asked takes back the one start that it did not use.
   */
  readonly starts: number;
  /** Times that its host answered it with "slow down". */
  readonly throttles: number;
  /** Epoch milliseconds. */
  readonly firstSeen: number;
  /** Epoch milliseconds, by the frontier's clock. */
  readonly deadline?: number;
}

/** From so many starts without a settle, a task runs alone in its process. */
export const ALONE_FROM_STARTS = 3;
/** After so many starts without a settle, a task is failed as a crash loop. */
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
  /** `pausedMs`: the host is paused for a moment still, short enough to be waited for. */
  | {
      readonly verdict: 'work';
      readonly incarnation: string;
      readonly state: TaskState;
      readonly pausedMs: number;
      /** The host said "slow down" before, and has answered in order since: within the last hour. */
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
  /** Did the host answer as a host in order does? Left out when it wasn't asked. */
  readonly hostAnswered?: boolean;
  /**
   * What is wrong with the host. Five in a row open its breaker: the host is paused, and then tried by a single task, until an
   * answer closes it. Any answer without a fault ends the row.
   */
  readonly hostFault?: HostFault;
  /** The host wants to be asked more slowly: what it said. Its interval is doubled, and shorter again with each answer in order. */
  readonly slowDown?: string;
  /** The host's name for {@link AttemptNote}s, and who tried. Left out when no attempt was made. */
  readonly attempt?: AttemptNote;
  /** The host can't be asked before so many milliseconds have passed; nothing of it is released sooner. */
  readonly hostFreeInMs?: number;
  /**
   * Redirects have led the task elsewhere: what it is from now on, with another host and other {@link Task.redirects}. What is
   * said here of a host is said of that one, and put back, it waits there.
   */
  readonly moved?: Task;
  /** What is remembered of the page from now on; only with `done` and `skipped`, and only in an incremental run. */
  readonly page?: PageVisit;
}

/** A page that an incremental run has visited. */
export interface PageVisit extends PageFacts {
  /** How long ago the request for it began. */
  readonly askedMsAgo: number;
  /** The body that did not have to be sent again. */
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
}

/** An ability: a page that was redirected takes the place of the one it leads to, so that it isn't fetched again as that. */
export interface Claims {
  /**
   * Takes a mark for the task that holds this release, until that task ends: `done` and `skipped` keep it, `failed` and
   * `cancelled` free it. `taken`: another task has it, or had it. `stale`: the ledger doesn't hold this release.
   */
  claim(run: string, release: ReleaseName, mark: string): Promise<'claimed' | 'taken' | 'stale'>;
}

/** An ability, for messages that can't be read but by their number. */
export interface Ledger {
  /** The mark of the task that is in flight under a number; nothing if none is. */
  markOf(run: string, release: number): Promise<string | undefined>;
}

/** An optional ability: the failed attempts of a task, newest first, at most ten. */
export interface AttemptHistory {
  attempts(mark: string): Promise<readonly AttemptNote[]>;
}

/** An optional ability, for after a broker was wiped: what it held would else come back only when its leases lapse. */
export interface QueuedLeases {
  /**
   * Ends the leases of a run's queued tasks, some hundreds a call; each waits again, at no attempt. `next` says where to go
   * on; without it, all were looked at. Safe at any time: a delivery that exists after all is stale, and is dropped.
   */
  endQueued(run: string, from?: string): Promise<{ readonly ended: number; readonly next: string | undefined }>;
}

/** An optional ability, for deliveries that count as acked when they are handed over. */
export interface HandOvers {
  /**
   * These releases are in a worker's hands now, and nowhere else: their leases end in 60 s, unless they are admitted. Counts
   * no start, and changes nothing of one that was admitted first. At most some thousands a call.
   */
  handed(run: string, releases: readonly ReleaseName[]): Promise<void>;
}
