import type { z } from 'zod';
import type { Failure, RetryPolicy } from '../task/task/retry-policy.ts';
import type { TakenStatuses } from '../task/task/taken-statuses.ts';
import type { Scope } from '../task/url/scope.ts';
import type { SessionDefinition } from './around/session.ts';
import type { Around } from './around/surroundings.ts';
import type { Condition } from './condition.ts';
import type { DownloadHow } from './file-step.ts';
import type { FollowedRequest } from './followed-request.ts';
import type { At, GivenTo, ItemOf, KeptBy, NamesIn, Unchecked } from './inferred.ts';
import type { JoinsOf } from './joins/joins.ts';
import type { Page } from './page.ts';

/** The result that a short crawler's function returns for a page. */
export interface StepResult {
  /** Stored in the record unchanged; any value that JSON can express. */
  readonly data?: unknown;
  /** Links to follow, if the run follows links. Default: all links on the page. */
  readonly links?: readonly string[];
}

/** The function of a short crawler. After a crash it may be called again for the same page, so it should have no side effects. */
export type PageFunction = (page: Page) => StepResult | Promise<StepResult>;

/** Returns whether to read a page of this media type. Called before the body is read. */
export type AcceptsType = (contentType: string | undefined) => boolean;

/** A crawler of one function: a record for every page. */
export interface ShortDefinition extends Around {
  readonly name: string;
  readonly step: PageFunction;
  /** Default: {@link acceptsText}. */
  readonly accepts?: AcceptsType;
  /** See {@link StepRules.statuses}. */
  readonly statuses?: TakenStatuses;
  /** Whether workers leave a run's tasks to others if the run began with another version of the crawler. Default: no. */
  readonly strictVersion?: boolean;
}

/** Options for the links that a step follows. */
export interface FollowHow<Kept = Readonly<Record<string, unknown>>> {
  /** Added to the page's own `kept` and passed to the step that gets the link. Any value that JSON can express. */
  readonly kept?: Unchecked<Partial<Kept>>;
}

/** A link, or a request other than a plain GET. Undefined is ignored, so a page without the link needs no `if`. */
export type Link = string | FollowedRequest | undefined;
/** One link or several. */
export type Links = Link | readonly Link[];

/** The argument of a step. A step says what should happen and does nothing itself: after a crash it may run again for the same page. */
export interface StepContext<Args, To extends string, Keeps, AllKeeps, Item> {
  readonly page: Page;
  /** The run's arguments (`--arg`), parsed by the crawler's `args` schema. */
  readonly args: Args;
  /** The `kept` of the links that led here, parsed by this step's `keeps` schema. */
  readonly kept: KeptBy<Keeps>;
  /** Follows links to a step listed in `to`, within that step's scope or the run's. Relative links are resolved like the page's own. */
  readonly follow: <const S extends To>(step: S, links: Links, how?: FollowHow<GivenTo<At<AllKeeps, S>>>) => void;
  /**
   * Stores the files at these links beside the records, whatever their site: each becomes a record of the step `download`. Files are
   * fetched like pages, at the pace of their host and within its robots.txt.
   */
  readonly download: (links: Links, how?: DownloadHow) => void;
  /**
   * In a fallback step, why the step before it failed; otherwise undefined. The fallback's page has an empty body if no answer came, or
   * one that isn't a page: its status is neither 2xx nor among the `statuses` of that step.
   */
  readonly failure: Failure | undefined;
  /** Adds an item to the page's record. */
  readonly emit: (item: ItemOf<Item>) => void;
}

/** Settings of a step besides its function and its place in the graph. */
export interface StepRules {
  /** Condition that the `kept` of a link must meet for the link to be followed here. */
  readonly when?: Condition;
  /** How far from its seed a link to this step may lead. Default: the run's. */
  readonly scope?: Scope;
  /** Patterns; only links that match one of them are followed here. Default: the run's. */
  readonly include?: readonly string[];
  /** Patterns; links that match one of them are not followed here. Default: the run's. */
  readonly exclude?: readonly string[];
  /** Whether its pages go through the priority queue. */
  readonly priority?: boolean;
  /** Milliseconds for which a page is worth fetching, from the moment its link was found. */
  readonly deadlineMs?: number;
  /** Longest time, in milliseconds, that its function may take for a page. Default: `STEP_TIMEOUT`. */
  readonly timeoutMs?: number;
  /** Which failed pages are tried again, and how often. Default: transient failures, as often as the run says. */
  readonly retry?: RetryPolicy;
  /** Error statuses, from 400 to 599, whose answers are pages, too: they are read, and neither fail nor are tried again. Default: none. */
  readonly statuses?: TakenStatuses;
  /** Keeps its pages out of every group, whatever led to them. For pages that many groups share. */
  readonly apart?: boolean;
  /** Rate, in the form of `RATE_LIMIT`: after a request for one of its pages, the host's next request comes no sooner. Only ever slows. */
  readonly rate?: string;
}

/*
 * The types of a crawler's steps are inferred part by part, each with its own type parameter: names, links between steps, kept values
 * and emitted items. A single parameter would be fixed before the compiler reads the functions.
 */
type StepsOf<Args, Names, To, Keeps, Items, Sessions = unknown> = {
  readonly [N in keyof To]: { readonly to?: To[N] };
} & {
  readonly [N in keyof Keeps]: { readonly keeps?: Keeps[N] };
} & { readonly [N in keyof Items]: { readonly record?: Items[N] } } & {
  readonly [N in keyof Names]: StepRules & {
    /** The steps that this one can follow links to. */
    readonly to?: readonly (keyof Names)[];
    /** The step that takes over when this one has used up its attempts or its function has failed. */
    readonly fallback?: keyof Names;
    /** The session from `sessions` in which its pages are fetched; `false` for none. Default: the crawler's `session`. */
    readonly session?: (keyof NoInfer<Sessions> & string) | false;
    /** Schema of the `kept` of links to this step. */
    readonly keeps?: z.ZodType;
    /** Schema of each item it emits. */
    readonly record?: z.ZodType;
    readonly run: (
      context: StepContext<Args, NamesIn<At<To, N>>, At<Keeps, N>, Keeps, At<Items, N>>,
    ) => void | Promise<void>;
  };
};

/** A crawler of several steps. Seeds start at the first step, or at the step whose pattern they match. */
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
  /** Schema of the run's arguments (`--arg name=value`). */
  readonly args?: Args;
  /** Seeds for a run that is started without any. */
  readonly seeds?:
    | readonly string[]
    | ((about: { readonly args: z.output<Args> }) => readonly string[] | Promise<readonly string[]>);
  /**
   * By step, the patterns of URLs that start there: seeds, and links in a run that follows all links. Same syntax as `--include`. Those of
   * `download` are stored as files.
   */
  readonly patterns?: { readonly [N in keyof NoInfer<Names> | 'download']?: string | readonly string[] };
  readonly steps: StepsOf<z.output<Args>, Names, To, Keeps, Items, Sessions>;
  /** Further sessions by name, which steps choose with their own `session`. */
  readonly sessions?: { readonly [N in keyof Sessions]: SessionDefinition };
  /** Functions of many pages, called once all of those pages have ended; see `joins.ts`. */
  readonly joins?: JoinsOf<z.output<Args>, Names, Keeps, Items, JoinNames, Per, JoinItems>;
  /** Default: {@link acceptsText}. */
  readonly accepts?: AcceptsType;
  /** Whether workers leave a run's tasks to others if the run began with another version of the crawler. Default: no. */
  readonly strictVersion?: boolean;
}

/** Any definition of steps, without its specific types. */
export type AnyDefinition = Definition<z.ZodObject, Record<string, unknown>, unknown, unknown, unknown>;
