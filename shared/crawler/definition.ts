import type { z } from 'zod';
import type { Failure, RetryPolicy } from '../task/task/retry-policy.ts';
import type { Scope } from '../task/url/scope.ts';
import type { SessionDefinition } from './around/session.ts';
import type { Around } from './around/surroundings.ts';
import type { Condition } from './condition.ts';
import type { DownloadHow } from './file-step.ts';
import type { FollowedRequest } from './followed-request.ts';
import type { At, GivenTo, ItemOf, KeptBy, NamesIn, Unchecked } from './inferred.ts';
import type { JoinsOf } from './joins/joins.ts';
import type { Page } from './page.ts';

/** What the one function of a short crawler returns for a page. */
export interface StepResult {
  /** Goes into the record unchanged; any value that JSON can express. */
  readonly data?: unknown;
  /** Links to follow, if the run follows links. Default: all links of the page. */
  readonly links?: readonly string[];
}

/** The one function of a short crawler. After a crash it may be called again for a page, so it should have no side effects. */
export type PageFunction = (page: Page) => StepResult | Promise<StepResult>;

/** Should a page of this type be read? Called before its body is read. */
export type AcceptsType = (contentType: string | undefined) => boolean;

/** A crawler of one function: a record for every page. */
export interface ShortDefinition extends Around {
  readonly name: string;
  readonly step: PageFunction;
  /** Default: {@link acceptsText}. */
  readonly accepts?: AcceptsType;
  /** Workers with another version of it than its run began with leave that run's tasks to others. Default: no. */
  readonly strictVersion?: boolean;
}

/** What goes with the links that a step follows. */
export interface FollowHow<Kept = Readonly<Record<string, unknown>>> {
  /** Added to what the page itself keeps, and handed to the step that gets the link. Any value that JSON can express. */
  readonly kept?: Unchecked<Partial<Kept>>;
}

/** A link, or a request that isn't a plain GET. What isn't there is left out, so that a page without a link needs no `if`. */
export type Link = string | FollowedRequest | undefined;
/** One link or several. */
export type Links = Link | readonly Link[];

/** What a step gets. It says what should happen and does nothing itself: after a crash it may run again for the same page. */
export interface StepContext<Args, To extends string, Keeps, AllKeeps, Item> {
  readonly page: Page;
  /** The run's arguments (`--arg`), by the crawler's schema. */
  readonly args: Args;
  /** What the links that led here kept, by this step's `keeps` schema. */
  readonly kept: KeptBy<Keeps>;
  /** Offers links to a step of `to`, within the run's scope or that step's own. A relative link is resolved as the page's own are. */
  readonly follow: <const S extends To>(step: S, links: Links, how?: FollowHow<GivenTo<At<AllKeeps, S>>>) => void;
  /**
   * Has the files at these links stored beside the records, wherever they are: each becomes a record of the step `download`. They
   * are fetched like any page, at their host's turn, and within its robots.txt.
   */
  readonly download: (links: Links, how?: DownloadHow) => void;
  /**
   * Of a step that takes over as a fallback: why the step before it failed. Its page is then empty if no answer came, or one
   * whose status isn't 2xx.
   */
  readonly failure: Failure | undefined;
  /** Adds an item to the page's record. */
  readonly emit: (item: ItemOf<Item>) => void;
}

/** What can be said of a step besides its function and its place in the graph. */
export interface StepRules {
  /** Links are followed here only if what they keep meets this. */
  readonly when?: Condition;
  /** How far from a seed links to this step may lead; default: the run's. */
  readonly scope?: Scope;
  /** Only links that match one of these patterns are followed here; default: the run's. */
  readonly include?: readonly string[];
  /** Links that match one of these are not; default: the run's. */
  readonly exclude?: readonly string[];
  /** Its pages take the priority queue. */
  readonly priority?: boolean;
  /** How long its pages are worth fetching, in milliseconds from when their links were found. */
  readonly deadlineMs?: number;
  /** The longest that its function may take over a page, in milliseconds; default: `STEP_TIMEOUT`. */
  readonly timeoutMs?: number;
  /** When its pages are tried again. Default: what is transient, as often as the run says. */
  readonly retry?: RetryPolicy;
  /** Its pages belong to no group, whatever led to them: for pages that many groups share. */
  readonly apart?: boolean;
  /** As `RATE_LIMIT`: after a request for one of its pages the host's next one comes no sooner. It only ever slows. */
  readonly rate?: string;
}

/*
 * A crawler's steps are inferred part by part, each by a type parameter of its own: the names, what leads where, what is
 * kept, and what is emitted. One parameter for all of them would be guessed before the functions are read.
 */
type StepsOf<Args, Names, To, Keeps, Items, Sessions = unknown> = {
  readonly [N in keyof To]: { readonly to?: To[N] };
} & {
  readonly [N in keyof Keeps]: { readonly keeps?: Keeps[N] };
} & { readonly [N in keyof Items]: { readonly record?: Items[N] } } & {
  readonly [N in keyof Names]: StepRules & {
    /** The steps that this one may follow links to. */
    readonly to?: readonly (keyof Names)[];
    /** The step that takes over when the attempts of this one are used up, or its function failed. */
    readonly fallback?: keyof Names;
    /** The session, of `sessions`, in which its pages are fetched; `false`: none. Default: the crawler's `session`. */
    readonly session?: (keyof NoInfer<Sessions> & string) | false;
    /** What its links keep. */
    readonly keeps?: z.ZodType;
    /** What an item of it is. */
    readonly record?: z.ZodType;
    readonly run: (
      context: StepContext<Args, NamesIn<At<To, N>>, At<Keeps, N>, Keeps, At<Items, N>>,
    ) => void | Promise<void>;
  };
};

/** A crawler of several steps. Seeds start at the first one, or at the one whose pattern they match. */
export interface Definition<
  Args extends z.ZodObject,
  Names,
  To,
  Keeps,
  Items,
  JoinNames = unknown,
  Per = unknown,
  JoinItems = unknown,
  Sessions = unknown,
> extends Around {
  /** Lower-case letters, digits and hyphens. */
  readonly name: string;
  /** What `--arg name=value` may say. */
  readonly args?: Args;
  /** The seeds of a run that is given none. */
  readonly seeds?:
    | readonly string[]
    | ((about: { readonly args: z.output<Args> }) => readonly string[] | Promise<readonly string[]>);
  /** URLs that match start at this step, be they seeds or links of a run that follows all links; as `--include` has them. */
  readonly patterns?: { readonly [N in keyof NoInfer<Names>]?: string | readonly string[] };
  readonly steps: StepsOf<z.output<Args>, Names, To, Keeps, Items, Sessions>;
  /** Further sessions by name, for steps that name them. */
  readonly sessions?: { readonly [N in keyof Sessions]: SessionDefinition };
  /** What is made of many pages, once all of them have ended; see `joins.ts`. */
  readonly joins?: JoinsOf<z.output<Args>, Names, Keeps, Items, JoinNames, Per, JoinItems>;
  /** Default: {@link acceptsText}. */
  readonly accepts?: AcceptsType;
  /** Workers with another version of it than its run began with leave that run's tasks to others. Default: no. */
  readonly strictVersion?: boolean;
}

/** Any definition of steps, with its types forgotten. */
export type AnyDefinition = Definition<z.ZodObject, Record<string, unknown>, unknown, unknown, unknown>;
