import type { JoinPlan } from '../task/group/plan.ts';
import type { HostTrouble } from '../task/host/host-trouble.ts';
import type { Scope } from '../task/url/scope.ts';
import type { UrlKeyRule } from '../task/url/url-key.ts';

/**
 * The runs, with their states and their progress.
 *
 * | state       | tasks are released | ends as                                              |
 * |-------------|--------------------|------------------------------------------------------|
 * | `running`   | yes                | `finished`, once sealed with nothing waiting or in flight |
 * | `paused`    | no                 | like `running`                                       |
 * | `cancelled` | no                 | stays `cancelled`, with an end time once nothing is left |
 * | `finished`  | no                 | joining it opens it again                            |
 *
 * A run is sealed when at least one producer has completed and none is open. A producer that falls silent is lost. A lost
 * producer stays open until another one has read the same input to its end, or a person seals the run. So a run with half a
 * sitemap is never reported as finished.
 *
 * A run that the store has lost can be opened again under its id. Its incarnation tells the two apart.
 *
 * Implementations: beside the frontier's, in `stores/redis` and `stores/sqlite`. Both pass the same suites.
 */
export interface Runs {
  /**
   * Creates a run, joins a running or paused one, or reopens a finished one. `producer` is open from now on. A producer that
   * was open before, or lost, can open the run again.
   */
  open(run: string, options: RunOptions, producer: string, how?: OpenHow): Promise<OpenedRun>;
  /** Reports that a producer is alive. After {@link PRODUCER_LEASE_MS} of silence it counts as lost. */
  beat(run: string, producer: string): Promise<void>;
  /**
   * Notes that a producer has offered all its seeds. Lost producers with the same input then count as complete, too. Without a
   * producer, notes that no more seeds will come from any. With an incarnation, treats any other incarnation of the run as
   * unknown.
   */
  seal(run: string, producer?: string, incarnation?: string): Promise<Steered | undefined>;
  /** Stops releasing tasks of the run. Deliveries in hand are finished, and later ones are put back. */
  pause(run: string, reason?: string): Promise<Steered | undefined>;
  resume(run: string): Promise<Steered | undefined>;
  /** Like `pause`, but for good: {@link Frontier.drain} drops the waiting tasks. */
  cancel(run: string): Promise<Steered | undefined>;
  /** Returns every counter of a run, read at one moment; `undefined` if the store doesn't know the run. */
  progress(run: string): Promise<RunProgress | undefined>;
  /**
   * Returns a run's state without its counters; `undefined` if the store doesn't know the run. Cheap enough to call many times
   * a second: the cost doesn't depend on the size of the run.
   */
  standing(run: string): Promise<RunStanding | undefined>;
}

/** Time after which a silent producer counts as lost. */
export const PRODUCER_LEASE_MS = 60_000;

/** The options of a run, fixed when it is created. */
export interface RunOptions {
  /** The crawler's name. */
  readonly crawler: string;
  /** The crawler's version when the run began, 8 hex digits. Absent if not known. */
  readonly version?: string;
  /** The values of `--arg` for the crawler, by name. Absent if there are none. */
  readonly args?: Readonly<Record<string, string>>;
  /** The joins of its crawler. Absent if there are none. */
  readonly joins?: JoinPlan;
  /** Which marks count as taken: those of all runs, or only this run's own. */
  readonly dedup: 'ever' | 'run';
  /** Milliseconds between two requests to one host; 0 for no limit. */
  readonly intervalMs: number;
  readonly maxAttempts: number;
  /** Whether links are followed. */
  readonly follow: boolean;
  /** Maximum number of links followed in a row, starting from a seed. */
  readonly maxDepth: number;
  /** `maxDepth` is only the default. Pages linked by `rel=next` are then as deep as the page that links them. */
  readonly hasDefaultDepth?: boolean;
  /** The form in which a record keeps the body. `article`: its main content, as markdown. */
  readonly content: 'none' | 'text' | 'markdown' | 'article' | 'html';
  /** Ignores the rules of robots.txt, whatever the workers do for other runs. Defaults to the workers' own setting. */
  readonly robots?: 'ignore';
  /** How far links may lead away from a seed. Defaults to the same host. */
  readonly scope?: Scope;
  /** Only links that match one of these patterns are followed; see {@link matchesUrl}. Absent or empty: all links. */
  readonly include?: readonly string[];
  /** Links that match one of these patterns are not followed. */
  readonly exclude?: readonly string[];
  /** Maximum number of tasks the run takes, including seeds. The first ones are taken. Defaults to no limit. */
  readonly limit?: number;
  /** Number of discovered pages from which on no more links are followed; seeds are still taken. Defaults to no limit. */
  readonly maxPages?: number;
  /**
   * Maximum number of hosts per registrable domain to which links are followed, since some domains answer for any name. Links
   * to further hosts are left out; hosts of seeds don't count. Defaults to no limit.
   */
  readonly maxHostsPerDomain?: number;
  /** Rules that treat different URLs as one page. Defaults to none. */
  readonly urlKey?: readonly UrlKeyRule[];
  /** Remembers pages, and fetches only those that have changed since; see `task/task/known-page.ts`. */
  readonly incremental: boolean;
  /** In an incremental run: time from a page's last fetch until it is due again. 0: only when a sitemap says it changed. */
  readonly recrawlAfterMs: number;
}

/** Further details on how to open a run. */
export interface OpenHow {
  /**
   * Identifies the producer's input: the same text for the same input. When the producer seals the run, lost producers of the
   * same input are forgotten. Absent if the input can't be identified: if such a producer is lost, only {@link Runs.seal} by hand
   * ends the wait for it.
   */
  readonly input?: string | undefined;
  /** Opens the run only if it is this incarnation. */
  readonly incarnation?: string | undefined;
  /** Recreates the incarnation if the store doesn't know the run. For callers that can offer everything again. */
  readonly mayRestore?: boolean;
}

export type RunState = 'running' | 'paused' | 'cancelled' | 'finished';

/** A run's state before and after a call, which returns `undefined` if the store doesn't know the run. A run that has ended stays as it is. */
export interface Steered {
  readonly was: RunState;
  readonly is: RunState;
}

export interface OpenedRun {
  /**
   * `cancelled`: the run is cancelled, and takes no seeds. `lost`: the store doesn't know the requested incarnation. Neither
   * changes anything.
   */
  readonly how: 'created' | 'joined' | 'reopened' | 'cancelled' | 'lost';
  /** The run's actual options, which may differ from those requested. */
  readonly options: RunOptions;
  /** A random id that distinguishes this run from any other ever opened under the same id. */
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

/** A run's counters. At every moment, `discovered` is the sum of the tasks in the six states. */
export interface RunProgress {
  readonly run: string;
  /** See {@link OpenedRun.incarnation}. */
  readonly incarnation: string;
  readonly state: RunState;
  readonly options: RunOptions;
  readonly sealed: boolean;
  readonly discovered: number;
  /** Offered URLs that were known already. They are not tasks and not part of the sum. */
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
  /** Number of groups with members or joins that have not ended. Absent if the run has no joins. */
  readonly openGroups?: number;
  /** Tasks by the step in their marks, which all steps have except the first. Absent if no mark has one. */
  readonly steps?: Readonly<Record<string, StepCounts>>;
  /** Where steps failed, the place with the most pages first; at most {@link MOST_STEP_FAILURES}. Absent if none failed. */
  readonly stepFailures?: readonly StepFailure[];
  readonly bytes: number;
  /** Bytes of bodies that did not have to be fetched because their pages had not changed. */
  readonly bytesSaved: number;
  /** Epoch milliseconds by the store's clock, like the next three. */
  readonly startedAt: number;
  readonly endedAt?: number;
  /** When a process last crawled it. Only for a run on one machine that has not ended and that no process is crawling. */
  readonly stoppedAt?: number;
  readonly readAt: number;
  readonly producers: { readonly open: number; readonly lost: number; readonly silent: readonly SilentProducer[] };
  /** Why it is paused, as stated by the person or part that paused it. */
  readonly pauseReason?: string;
}

/** Hosts that a run has given up. Their tasks fail as `host_down`. */
export interface HostsDown {
  readonly count: number;
  /** The first ones given up, at most {@link MOST_NAMED_DOWN}, sorted by name. */
  readonly named: readonly ({ readonly host: string } & Pick<HostTrouble, 'kind' | 'reason'>)[];
}

/** The counters of one step's tasks. */
export interface StepCounts {
  readonly discovered: number;
  readonly done: number;
  readonly skipped: number;
  readonly failed: number;
}

export const NO_STEP_COUNTS: StepCounts = { discovered: 0, done: 0, skipped: 0, failed: 0 };

/**
 * Maximum number of counters by step that a run keeps, each for one step and state. A crawler has far fewer steps, but messages
 * from other programs can name any.
 */
export const MOST_STEP_COUNTS = 1_000;

/** Pages that failed at one place of a crawler. */
export interface StepFailure {
  /** File and line, with the step: see {@link AttemptNote.place}. */
  readonly place: string;
  readonly pages: number;
  /** The error of the first page. */
  readonly error: string;
}

/** Maximum number of places that a run keeps. Pages that fail elsewhere are counted only by reason. */
export const MOST_STEP_FAILURES = 50;

/** Returns the failures sorted by number of pages, the highest first. */
export function byPages(failures: readonly StepFailure[]): readonly StepFailure[] {
  return failures.toSorted((a, b) => b.pages - a.pages || (a.place < b.place ? -1 : 1));
}

/** URLs that a run did not take, by reason. They are not tasks and not part of `discovered`. */
export interface LeftOut {
  /** Links deeper than {@link RunOptions.maxDepth}. */
  readonly depth: number;
  /** Links outside the run's scope and patterns, or to further hosts of a domain. */
  readonly scope: number;
  /** Links found once the run had {@link RunOptions.maxPages}. */
  readonly maxPages: number;
  /** Links and seeds offered once the run had {@link RunOptions.limit}. */
  readonly limit: number;
  /** Links whose kept data fail the condition of the step they lead to. */
  readonly condition: number;
}

/** Maximum number of times a crawler's steps can go round in a circle if the depth isn't set. */
export const MOST_ROUNDS = 1_000;

/** Returns whether a run has reached its limit of pages and follows no more links. Joins count as discovered, but are no pages. */
export function hasMaxPages({
  options: { maxPages, follow, joins },
  discovered,
  steps,
  leftOut,
}: Pick<RunProgress, 'options' | 'discovered' | 'steps' | 'leftOut'>): boolean {
  // A crawler with a single step can follow links, too, which shows only once a link is left out.
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

/** Returns the time from a run's start to its end, or to when a process last crawled it, or to now. */
export function elapsedMs({ startedAt, endedAt, stoppedAt, readAt }: RunProgress): number {
  return Math.max(0, (endedAt ?? stoppedAt ?? readAt) - startedAt);
}

/** Name of the only producer of a replay run, so that a repeated replay replaces one that was killed. */
export const REPLAYER = 'replay';
