import type { z } from 'zod';
import type { Failure } from '../../task/task/retry-policy.ts';
import type { RetrySchedule } from '../../task/task/retry-schedule.ts';
import type { At, ItemOf, KeptBy } from '../inferred.ts';

/** A page, or another join, that a join takes. */
export interface JoinInput {
  /** The step, or the join. */
  readonly step: string;
  /** Of a join of the same group: its owner's. */
  readonly url: string;
  /** What the links that led there kept. */
  readonly kept: Readonly<Record<string, unknown>>;
  /** The items that it emitted. */
  readonly records: readonly unknown[];
}

/** What of a group did not end as `done`: no input is absent without a sign. */
export interface MissingInputs {
  readonly count: number;
  /** How many by their outcome: `failed`, `skipped`, `cancelled`. */
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

/** The page that a group is about. */
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

/** What a join of a group gets, once all that it waits for has ended. After a crash it may run again: the last record stands. */
interface GroupJoinContext<Args, Keeps, Item, Names, Rows> extends JoinSpeech<Args, Item> {
  readonly owner: JoinOwner<KeptBy<Keeps>>;
  /** Of the steps and joins in `of`, by their order there, and then by URL. */
  readonly inputs: readonly InputOf<Names, Rows>[];
  readonly missing: MissingInputs;
}

/** Whoever looks at its `step` knows of which type its `records` are. */
type InputOf<Names, Rows> = {
  readonly [N in Names & string]: JoinInput & { readonly step: N; readonly records: readonly RowOf<At<Rows, N>>[] };
}[Names & string];

/** What a join of the run gets, once nothing else is left to do. */
interface RunJoinContext<Args, Item, Rows> extends JoinSpeech<Args, Item> {
  /** How many tasks of each step and join are done. */
  readonly counts: Readonly<Record<string, number>>;
  /** The items of a step or a join that it takes, one by one. */
  readonly records: <const N extends string>(of: N) => AsyncIterable<RowOf<At<Rows, N>>>;
}

type RowOf<Schema> = Schema extends z.ZodType ? z.output<Schema> : Readonly<Record<string, unknown>>;

type JoinContext<Args, Per, Keeps, Item, Names, Rows> = Per extends string
  ? GroupJoinContext<Args, Keeps, Item, Names, Rows>
  : RunJoinContext<Args, Item, Rows>;

/** Why a join may fail and be tried again: its function threw, was refused or took too long; an item broke its schema. */
export const RETRIED_OF_JOINS = ['step', 'schema'] as const;

/** When and how often a join is tried again. What it gets stays the same, but another worker may reach what the first could not. */
interface JoinRetry extends RetrySchedule {
  /** Attempts in all, the first one included. Default: the run's. */
  readonly attempts?: number;
  /** Default: `all`. `attempt` counts from 1. */
  readonly when?:
    | 'all'
    | readonly (typeof RETRIED_OF_JOINS)[number][]
    | ((failure: Failure & { readonly attempt: number }) => boolean);
}

/** What can be said of a join besides its function and what it takes. */
interface JoinRules {
  /** How long after all that it waits for has ended it is worth running, in milliseconds. */
  readonly deadlineMs?: number;
  /** The longest that its function may take, in milliseconds; default: `STEP_TIMEOUT`. */
  readonly timeoutMs?: number;
  /** When it is tried again. Default: never. */
  readonly retry?: JoinRetry;
}

/** The joins of a crawler, inferred part by part as its steps are. */
export type JoinsOf<Args, Names, Keeps, Items, JoinNames, Per, JoinItems> = {
  readonly [J in keyof Per]: { readonly per?: Per[J] };
} & { readonly [J in keyof JoinItems]: { readonly record?: JoinItems[J] } } & {
  readonly [J in keyof JoinNames]: JoinRules & {
    /** The step whose pages it runs for, each with all that descends from it. Left out: once for the run. */
    readonly per?: keyof Names;
    /** The steps and joins whose results it takes. */
    readonly of: readonly (keyof Names | keyof JoinNames)[];
    /** What an item of it is. */
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
