import type { Scope } from '../task/url/scope.ts';
import type { UrlKeyRule } from '../task/url/url-key.ts';

/**
 * The runs: which exist, in which state, and how far they are.
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
 * A run that the store has lost may be opened anew under its id. What it was opened as, its incarnation, tells the two apart.
 *
 * Implementations stand beside the frontier's, in `stores/redis` and `stores/sqlite`, and pass the same suites.
 */
export interface Runs {
  /**
   * Creates a run, joins a running or paused one, or opens a finished one again; `producer` is open from now on. One that
   * was open, or lost, may open the run again.
   */
  open(run: string, options: RunOptions, producer: string, how?: OpenHow): Promise<OpenedRun>;
  /** Says that a producer is alive. Silent for {@link PRODUCER_LEASE_MS}, it counts as lost. */
  beat(run: string, producer: string): Promise<void>;
  /**
   * A producer has offered all it had, and with it lost ones whose input was the same. Without a producer: no seeds will come,
   * whatever became of the producers. With an incarnation, nothing is done to another one of the run, which counts as unknown.
   */
  seal(run: string, producer?: string, incarnation?: string): Promise<Steered | undefined>;
  /** Nothing of the run is released any more; a delivery in hand is finished, one that comes later is put back. */
  pause(run: string, reason?: string): Promise<Steered | undefined>;
  resume(run: string): Promise<Steered | undefined>;
  /** As `pause`, for good: what waits is dropped by {@link Frontier.drain}. */
  cancel(run: string): Promise<Steered | undefined>;
  /** Every counter of a run, read at one moment; nothing if the store doesn't know the run. */
  progress(run: string): Promise<RunProgress | undefined>;
  /**
   * Where a run stands, without its counters; nothing if the store doesn't know the run. Cheap enough to ask many times a
   * second: the cost doesn't depend on the size of the run.
   */
  standing(run: string): Promise<RunStanding | undefined>;
}

/** Silent for so long, a producer counts as lost. */
export const PRODUCER_LEASE_MS = 60_000;

/** What is fixed when a run opens. */
export interface RunOptions {
  /** The crawler's name. */
  readonly crawler: string;
  /** Which marks count as taken: those of all runs, or this run's own. */
  readonly dedup: 'ever' | 'run';
  /** Milliseconds between two requests to one host; 0 for no limit. */
  readonly intervalMs: number;
  readonly maxAttempts: number;
  /** Follow links? */
  readonly follow: boolean;
  /** Links followed from a seed, at most. */
  readonly maxDepth: number;
  /** What a record keeps of the body. */
  readonly content: 'none' | 'text' | 'html';
  /** How far from a seed. Left out: the same host. */
  readonly scope?: Scope;
  /** Only links that one of these patterns matches are followed; see {@link matchesUrl}. Left out, or none: all. */
  readonly include?: readonly string[];
  /** Links that one of these matches are not. */
  readonly exclude?: readonly string[];
  /** Once the run has discovered so many pages, no more links are followed; seeds are taken all the same. Left out: no limit. */
  readonly maxPages?: number;
  /**
   * Hosts of one registrable domain whose links are followed: a domain that answers for any name has an end. Links to further
   * ones are left out; those of seeds are not counted. Left out: no limit.
   */
  readonly maxHostsPerDomain?: number;
  /** Rules that take different URLs for one page. Left out: none. */
  readonly urlKey?: readonly UrlKeyRule[];
  /** Remembers pages, and asks only for what has changed since; see `task/known-page.ts`. */
  readonly incremental: boolean;
  /** In an incremental run, pages are due again so long after their last fetch; 0: only when a sitemap says that they changed. */
  readonly recrawlAfterMs: number;
}

/** More on how a run is opened. */
export interface OpenHow {
  /**
   * What the producer reads: the same text for the same input. When it seals the run, lost producers of this input are
   * forgotten. Left out where the input can't be known: only {@link Runs.seal} by hand ends the wait for such a one.
   */
  readonly input?: string | undefined;
  /** Opens only this incarnation of the run, again. */
  readonly incarnation?: string | undefined;
  /** Creates the incarnation once more if the store doesn't know the run: for who can offer all of it again. */
  readonly mayRestore?: boolean;
}

export type RunState = 'running' | 'paused' | 'cancelled' | 'finished';

/** What steering came to; nothing, if the store doesn't know the run. A run that has ended stays as it is. */
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
  /** Tells it from any other run that is ever opened under this id. */
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
  /** Offers that were known already. They are no tasks: the identity leaves them out. */
  readonly duplicate: number;
  readonly waiting: number;
  readonly inFlight: number;
  readonly done: number;
  readonly skipped: number;
  readonly failed: number;
  readonly cancelled: number;
  /** Links that were not offered. They are no tasks: the identity leaves them out. `scope`: their domain has all its hosts. */
  readonly leftOut: { readonly scope: number };
  readonly reasons: {
    readonly failed: Readonly<Record<string, number>>;
    readonly skipped: Readonly<Record<string, number>>;
  };
  readonly bytes: number;
  /** Bodies that did not have to be fetched, since their pages had not changed. */
  readonly bytesSaved: number;
  /** Epoch milliseconds, by the store's clock, as the next two. */
  readonly startedAt: number;
  readonly endedAt?: number;
  readonly readAt: number;
  readonly producers: { readonly open: number; readonly lost: number; readonly silent: readonly SilentProducer[] };
  /** Why it is paused, in the words of whoever paused it. */
  readonly pauseReason?: string;
}

/** Does a run follow no more links, since it has as many pages as it may? */
export function hasMaxPages({ options, discovered }: Pick<RunProgress, 'options' | 'discovered'>): boolean {
  return options.follow && options.maxPages !== undefined && discovered >= options.maxPages;
}

/** A lost producer. At most ten are named. */
export interface SilentProducer {
  readonly id: string;
  /** Milliseconds since its last beat. */
  readonly silentMs: number;
}

/** From start to end, or until now. */
export function elapsedMs({ startedAt, endedAt, readAt }: RunProgress): number {
  return Math.max(0, (endedAt ?? readAt) - startedAt);
}

/** The one producer of a replay run, so that whoever repeats a replay takes the place of the one that was killed. */
export const REPLAYER = 'replay';
