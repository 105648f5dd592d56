import type { z } from 'zod';
import type { Failure } from '../../task/task/retry-policy.ts';
import type { RetrySchedule } from '../../task/task/retry-schedule.ts';
import type { At, ItemOf, KeptBy } from '../inferred.ts';

/** An input of a join: a page, or the result of another join. */
export interface JoinInput {
  /** The name of the step or the join. */
  readonly step: string;
  /** The page's URL. For a join, the URL of the group's owner. */
  readonly url: string;
  /** The `kept` of the links that led to the page. */
  readonly kept: Readonly<Record<string, unknown>>;
  /** The items that it emitted. */
  readonly records: readonly unknown[];
}

/** The members of a group that did not end as `done`, so that no input is missing without a trace. */
export interface MissingInputs {
  readonly count: number;
  /** Number of members by outcome: `failed`, `skipped`, `cancelled`. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** The first hundred. */
  readonly first: readonly MissingInput[];
}

export interface MissingInput {
  readonly step: string;
  readonly url: string;
  readonly outcome: string;
  readonly reason?: string;
}

/** The owner of a group: the page that the group belongs to. */
export interface JoinOwner<Kept = Readonly<Record<string, unknown>>> {
  readonly url: string;
  readonly kept: Kept;
}

interface JoinSpeech<Args, Item> {
  /** The run's arguments. */
  readonly args: Args;
  /** Adds an item to the join's record. */
  readonly emit: (item: ItemOf<Item>) => void;
}

/** The argument of a join per owner, called once the whole group has ended. After a crash it may run again: the last record stands. */
interface GroupJoinContext<Args, Keeps, Item, Names, Rows> extends JoinSpeech<Args, Item> {
  readonly owner: JoinOwner<KeptBy<Keeps>>;
  /** Inputs from the steps and joins in `of`, sorted by their order there, then by URL. */
  readonly inputs: readonly InputOf<Names, Rows>[];
  readonly missing: MissingInputs;
}

/** An input whose `step` determines the type of its `records`. */
type InputOf<Names, Rows> = {
  readonly [N in Names & string]: Omit<JoinInput, 'step' | 'records'> & {
    readonly step: N;
    readonly records: readonly RowOf<At<Rows, N>>[];
  };
}[Names & string];

/** The argument of a run join, called once nothing else in the run is left to do. */
interface RunJoinContext<Args, Item, Rows> extends JoinSpeech<Args, Item> {
  /** Number of `done` tasks of each step and join. */
  readonly counts: Readonly<Record<string, number>>;
  /** Iterates over the items of a step or a join in `of`. */
  readonly records: <const N extends string>(of: N) => AsyncIterable<RowOf<At<Rows, N>>>;
}

type RowOf<Schema> = Schema extends z.ZodType ? z.output<Schema> : Readonly<Record<string, unknown>>;

type JoinContext<Args, Per, Keeps, Item, Names, Rows> = Per extends string
  ? GroupJoinContext<Args, Keeps, Item, Names, Rows>
  : RunJoinContext<Args, Item, Rows>;

/** Failures after which a join can be tried again: its function threw, was refused or took too long (`step`); an item broke its schema. */
export const RETRIED_OF_JOINS = ['step', 'schema'] as const;

/** When and how often a join is tried again. Its inputs stay the same, but another worker may reach a service that the first could not. */
interface JoinRetry extends RetrySchedule {
  /** Attempts in all, the first one included. Default: the run's. */
  readonly attempts?: number;
  /** Default: `all`. `attempt` counts from 1. */
  readonly when?:
    | 'all'
    | readonly (typeof RETRIED_OF_JOINS)[number][]
    | ((failure: Failure & { readonly attempt: number }) => boolean);
}

/** Settings of a join besides its function and its inputs. */
interface JoinRules {
  /** Milliseconds for which the join is worth running, once everything it waits for has ended. */
  readonly deadlineMs?: number;
  /** Longest time, in milliseconds, that its function may take. Default: `STEP_TIMEOUT`. */
  readonly timeoutMs?: number;
  /** When a failed join is tried again. Default: never. */
  readonly retry?: JoinRetry;
}

/** Is no value. The compiler names it, and so the crawler's steps, where a join is `per` another name. */
interface ExpectedStep<Names> {
  readonly oneOf: Names;
}

/** The joins of a crawler. Their types are inferred part by part, like those of its steps. */
export type JoinsOf<Args, Names, Keeps, Items, JoinNames, Per, JoinItems> = {
  readonly [J in keyof Per]: { readonly per?: Per[J] };
} & { readonly [J in keyof JoinItems]: { readonly record?: JoinItems[J] } } & {
  readonly [J in keyof JoinNames]: JoinRules & {
    /** The step whose pages it runs for, once for each page and everything that descends from it. Default: once for the run. */
    readonly per?: keyof Names | (At<Per, J> extends keyof Names ? never : ExpectedStep<keyof Names>);
    /** The steps and joins whose results it takes. */
    readonly of: readonly (keyof Names | keyof JoinNames)[];
    /** Schema of each item it emits. */
    readonly record?: z.ZodType;
    readonly run: (
      context: JoinContext<
        Args,
        At<Per, J>,
        At<Keeps, At<Per, J>>,
        At<JoinItems, J>,
        keyof Names | keyof JoinNames,
        Items & JoinItems
      >,
    ) => void | Promise<void>;
  };
};

/** A join of a crawler. */
export interface Join extends JoinRules {
  readonly name: string;
  /** The name of its owner's step. */
  readonly per?: string;
  readonly of: readonly string[];
  readonly record?: z.ZodType;
  readonly run: (context: never) => unknown;
}
