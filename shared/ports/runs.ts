import type { JoinPlan } from '../task/group/plan.ts';
import type { HostTrouble } from '../task/host/host-trouble.ts';
import type { Scope } from '../task/url/scope.ts';
import type { UrlKeyRule } from '../task/url/url-key.ts';

/**
 * The runs: which exist, in which state, with what progress.
 *
 * | state       | tasks are released | ends as                                              |
 * |-------------|--------------------|------------------------------------------------------|
 * | `running`   | yes                | `finished`, once sealed with nothing waiting or in flight |
 * | `paused`    | no                 | as `running`                                         |
 * | `cancelled` | no                 | stays, with an end time once nothing is left         |
 * | `finished`  | no                 | joining it opens it again                            |
 *
 * A run is sealed when at least one producer has completed and none is open. A producer that falls silent is lost: it
 * stays open, so that a run with half a sitemap is never reported as finished, until another one has read the same input to its
 * end, or a person seals the run.
 *
 * A run that the store has lost may be opened again under its id. Its incarnation tells the two apart.
 *
 * Implementations stand beside the frontier's, in `stores/redis` and `stores/sqlite`, and pass the same suites.
 */
export interface Runs {
  /**
   * Creates a run, joins a running or paused one, or opens a finished one again; `producer` is open from now on. A
   * producer that was open before, or lost, may open the run again.
   */
  open(run: string, options: RunOptions, producer: string, how?: OpenHow): Promise<OpenedRun>;
  /** Says that a producer is alive. After {@link PRODUCER_LEASE_MS} of silence it counts as lost. */
  beat(run: string, producer: string): Promise<void>;
  /**
   * A producer has offered all its seeds; lost producers with the same input count as complete, too. Without a producer:
   * no more seeds will come, whatever became of the producers. With an incarnation, another incarnation of the run is
   * left alone and counts as unknown.
   */
  seal(run: string, producer?: string, incarnation?: string): Promise<Steered | undefined>;
  /** No task of the run is released any more; deliveries in hand are finished, later ones are put back. */
  pause(run: string, reason?: string): Promise<Steered | undefined>;
  resume(run: string): Promise<Steered | undefined>;
  /** As `pause`, for good: what waits is dropped by {@link Frontier.drain}. */
  cancel(run: string): Promise<Steered | undefined>;
  /** Every counter of a run, read at one moment; nothing if the store doesn't know the run. */
  progress(run: string): Promise<RunProgress | undefined>;
  /**
   * A run's state, without its counters; nothing if the store doesn't know the run. Cheap enough to ask many times a
   * second: the cost doesn't depend on the size of the run.
   */
  standing(run: string): Promise<RunStanding | undefined>;
}

/** A producer that has been silent this long counts as lost. */
export const PRODUCER_LEASE_MS = 60_000;

/** What is fixed when a run opens. */
export interface RunOptions {
  /** The crawler's name. */
  readonly crawler: string;
  /** The crawler's version when the run began, 8 hex digits. Left out: not known. */
  readonly version?: string;
  /** What `--arg` said to the crawler, by name. Left out: nothing. */
  readonly args?: Readonly<Record<string, string>>;
  /** The joins of its crawler. Left out: none. */
  readonly joins?: JoinPlan;
  /** Which marks count as taken: those of all runs, or this run's own. */
  readonly dedup: 'ever' | 'run';
  /** Milliseconds between two requests to one host; 0 for no limit. */
  readonly intervalMs: number;
  readonly maxAttempts: number;
  /** Follow links? */
  readonly follow: boolean;
  /** Links followed from a seed, at most. */
  readonly maxDepth: number;
  /** Nobody has set `maxDepth`; then pages by `rel=next` are as deep as the page that names them. Left out: somebody has. */
  readonly hasDefaultDepth?: boolean;
  /** What a record keeps of the body. `article`: its main content, as markdown. */
  readonly content: 'none' | 'text' | 'markdown' | 'article' | 'html';
  /** The rules of robots.txt are ignored, whatever its workers do for other runs. Left out: as its workers do. */
  readonly robots?: 'ignore';
  /** How far from a seed. Left out: the same host. */
  readonly scope?: Scope;
  /** Only links that match one of these patterns are followed; see {@link matchesUrl}. Left out, or none: all. */
  readonly include?: readonly string[];
  /** Links that match one of these are not. */
  readonly exclude?: readonly string[];
  /** How many tasks the run takes, seeds included: its first. Left out: no limit. */
  readonly limit?: number;
  /** Once the run has discovered this many pages, no more links are followed; seeds are still taken. Left out: no limit. */
  readonly maxPages?: number;
  /**
   * Hosts of one registrable domain whose links are followed, since some domains answer for any name. Links to further
   * hosts are left out; hosts of seeds are not counted. Left out: no limit.
   */
  readonly maxHostsPerDomain?: number;
  /** Rules by which different URLs are one page. Left out: none. */
  readonly urlKey?: readonly UrlKeyRule[];
  /** Remembers pages, and asks only for what has changed since; see `task/known-page.ts`. */
  readonly incremental: boolean;
  /**
   * In an incremental run, how long after their last fetch pages are due again; 0: only when a sitemap says that they
   * changed.
   */
  readonly recrawlAfterMs: number;
}

/** More on how a run is opened. */
export interface OpenHow {
  /**
   * What the producer reads: the same text for the same input. When it seals the run, lost producers of this input are
   * forgotten. Left out where the input can't be identified: only {@link Runs.seal} by hand ends the wait for such a producer.
   */
  readonly input?: string | undefined;
  /** Opens only this incarnation of the run, again. */
  readonly incarnation?: string | undefined;
  /** Recreates the incarnation if the store doesn't know the run: for callers that can offer all of it again. */
  readonly mayRestore?: boolean;
}

export type RunState = 'running' | 'paused' | 'cancelled' | 'finished';

/** The result of steering; nothing if the store doesn't know the run. A run that has ended stays as it is. */
export interface Steered {
  readonly was: RunState;
  readonly is: RunState;
}

export interface OpenedRun {
  /**
   * `cancelled`: the run is, and takes no seeds. `lost`: the store doesn't know the incarnation that was asked for. Nothing
   * was changed by either.
   */
  readonly how: 'created' | 'joined' | 'reopened' | 'cancelled' | 'lost';
  /** The run's own, which may differ from those asked for. */
  readonly options: RunOptions;
  /** A random id: no other run ever opened under this id has the same. */
  readonly incarnation: string;
}

/** See {@link Runs.standing}. */
export interface RunStanding {
  /** See {@link OpenedRun.incarnation}. */
  readonly incarnation: string;
  readonly state: RunState;
  /** Nothing waits, nothing is in flight, and nothing more will come. */
  readonly hasEnded: boolean;
}

/** At every moment, `discovered` is the sum of the six states of a task. */
export interface RunProgress {
  readonly run: string;
  /** See {@link OpenedRun.incarnation}. */
  readonly incarnation: string;
  readonly state: RunState;
  readonly options: RunOptions;
  readonly sealed: boolean;
  readonly discovered: number;
  /** Offers that were known already. They are not tasks: the identity leaves them out. */
  readonly duplicate: number;
  readonly waiting: number;
  readonly inFlight: number;
  readonly done: number;
  readonly skipped: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly leftOut: LeftOut;
  readonly reasons: {
    readonly failed: Readonly<Record<string, number>>;
    readonly skipped: Readonly<Record<string, number>>;
  };
  readonly hostsDown: HostsDown;
  /** Groups whose members, or whose joins, have not all ended. Left out if the run has no joins. */
  readonly openGroups?: number;
  /** Tasks by the step that their marks carry: of a crawler with steps all but the first. Left out if none carries one. */
  readonly steps?: Readonly<Record<string, StepCounts>>;
  /** Where steps failed, the places with most pages first; at most {@link MOST_STEP_FAILURES}. Left out if none did. */
  readonly stepFailures?: readonly StepFailure[];
  readonly bytes: number;
  /** Bodies that did not have to be fetched, since their pages had not changed. */
  readonly bytesSaved: number;
  /** Epoch milliseconds, by the store's clock, as the next three. */
  readonly startedAt: number;
  readonly endedAt?: number;
  /** When a process last crawled it, if it is a run of one machine that has not ended and that no process crawls now. */
  readonly stoppedAt?: number;
  readonly readAt: number;
  readonly producers: { readonly open: number; readonly lost: number; readonly silent: readonly SilentProducer[] };
  /** Why it is paused, in the words of whoever paused it. */
  readonly pauseReason?: string;
}

/** Hosts that a run has given up: their tasks fail as `host_down`. */
export interface HostsDown {
  readonly count: number;
  /** The first of them, by name; at most {@link MOST_NAMED_DOWN}. */
  readonly named: readonly ({ readonly host: string } & Pick<HostTrouble, 'kind' | 'reason'>)[];
}

/** How far a run is with the tasks of one step. */
export interface StepCounts {
  readonly discovered: number;
  readonly done: number;
  readonly skipped: number;
  readonly failed: number;
}

export const NO_STEP_COUNTS: StepCounts = { discovered: 0, done: 0, skipped: 0, failed: 0 };

/**
 * Counts by step that a run keeps at most, each of a step and a state: a crawler's steps are far fewer, but messages of other
 * programs may name any.
 */
export const MOST_STEP_COUNTS = 1_000;

/** Pages that failed at one place of a crawler. */
export interface StepFailure {
  /** File and line, with the step: see {@link AttemptNote.place}. */
  readonly place: string;
  readonly pages: number;
  /** The first of them. */
  readonly error: string;
}

/** Places that a run keeps; pages that fail at further ones are counted by their reasons alone. */
export const MOST_STEP_FAILURES = 50;

/** Those with most pages first. */
export function byPages(failures: readonly StepFailure[]): readonly StepFailure[] {
  return failures.toSorted((a, b) => b.pages - a.pages || (a.place < b.place ? -1 : 1));
}

/** URLs that a run did not take, by what kept them out. They are not tasks: the identity leaves them out. */
export interface LeftOut {
  /** Links deeper than {@link RunOptions.maxDepth}. */
  readonly depth: number;
  /** Links outside the run's scope and patterns, or to further hosts of a domain. */
  readonly scope: number;
  /** Links found once the run had {@link RunOptions.maxPages}. */
  readonly maxPages: number;
  /** Links and seeds offered once the run had {@link RunOptions.limit}. */
  readonly limit: number;
  /** Links that keep what the condition of their step refuses. */
  readonly condition: number;
}

/** How often the steps of a crawler may go round in a circle, if nobody has set the depth. */
export const MOST_ROUNDS = 1_000;

/** Has a run reached its limit of pages, so that it follows no more links? Joins are counted as discovered, and are no pages. */
export function hasMaxPages({
  options: { maxPages, follow, joins },
  discovered,
  steps,
  leftOut,
}: Pick<RunProgress, 'options' | 'discovered' | 'steps' | 'leftOut'>): boolean {
  // The step of a crawler that has no other follows links, too: that it does shows once one is left out.
  if (maxPages === undefined || (!follow && steps === undefined && leftOut.maxPages === 0)) return false;
  const made = Object.keys(joins?.joins ?? {}).map((join) => steps?.[join]?.discovered ?? 0);
  return discovered - made.reduce((sum, each) => sum + each, 0) >= maxPages;
}

/** A lost producer. At most ten are named. */
export interface SilentProducer {
  readonly id: string;
  /** Milliseconds since its last beat. */
  readonly silentMs: number;
}

/** From start to end, or until a process last crawled it, or until now. */
export function elapsedMs({ startedAt, endedAt, stoppedAt, readAt }: RunProgress): number {
  return Math.max(0, (endedAt ?? stoppedAt ?? readAt) - startedAt);
}

/** The one producer of a replay run, so that a repeated replay takes the place of a killed one. */
export const REPLAYER = 'replay';
