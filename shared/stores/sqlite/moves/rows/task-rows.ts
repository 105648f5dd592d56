import type { LinkTally, Offer, TaskState } from '../../../../ports/frontier/frontier.ts';
import { formOf, type TaskPlace } from '../../../../task/task/form.ts';
import type { Outcome } from '../../../../task/task/outcome.ts';
import type { Queue } from '../../../../task/task/routing.ts';
import { MALFORMED_HOST, malformedMarkOf } from '../../../../task/url/fingerprint.ts';
import type { LocalDatabase } from '../../database/database.ts';

/** Phases of a task in flight, as its row has them. They are short, since a row that grows is moved to another page, which is logged too. */
const PHASES = { p: 'publishing', q: 'queued', w: 'working' } as const;
export type Phase = keyof typeof PHASES;

/** A task that isn't over. */
export interface TaskRow {
  readonly id: number;
  readonly run: number;
  host: string;
  /** 0: priority, 1: normal. */
  readonly queue: number;
  release: number | null;
  phase: Phase | null;
  leaseUntil: number | null;
  since: number | null;
  worker: string | null;
  dueAt: number | null;
  readonly mark: string;
  claimed: string | null;
  attempts: number;
  starts: number;
  throttles: number;
  readonly firstSeen: number;
  /** 0: none. */
  readonly deadline: number;
  readonly known: number;
  /** An {@link Ending}, see {@link endingOf}. */
  readonly ending: string | null;
  /** While it is in flight, what its admission has offered, see {@link LinkTally}; null for nothing. */
  stamp: string | null;
  links: number | null;
  /** See `task/task/form.ts`; for a text that isn't a URL, the reason. */
  form: string;
}

const QUEUE_NUMBERS: Readonly<Record<Queue, number>> = { priority: 0, normal: 1 };
const QUEUE_NAMES: readonly Queue[] = ['priority', 'normal'];
/** Queues as rows have them, in the order in which they are emptied. */
export const QUEUES: readonly number[] = Object.values(QUEUE_NUMBERS);

export function queueOf({ queue }: Pick<TaskRow, 'queue'>): Queue {
  return QUEUE_NAMES[queue] ?? 'normal';
}

/** Returns an offer as a task, without its id and its place, which aren't known yet. */
export function newTask(
  offer: Offer,
  now: number,
): Pick<TaskRow, 'host' | 'queue' | 'mark' | 'firstSeen' | 'deadline' | 'form'> {
  if ('malformed' in offer) {
    const mark = malformedMarkOf(offer.malformed);
    return { host: MALFORMED_HOST, queue: 1, mark, firstSeen: now, deadline: 0, form: offer.problem };
  }
  const { host, mark, queue, deadlineMs } = offer;
  return {
    host,
    queue: QUEUE_NUMBERS[queue],
    mark,
    firstSeen: now,
    deadline: deadlineMs === undefined ? 0 : now + deadlineMs,
    form: formOf(offer),
  };
}

/** Returns how many links of a page the store has from the admission with this stamp. */
export function heldOf({ stamp, links }: Pick<TaskRow, 'stamp' | 'links'>, of: string): number {
  return stamp === of ? (links ?? 0) : 0;
}

export function phaseOf(phase: Phase): (typeof PHASES)[Phase] {
  return PHASES[phase];
}

/** Returns a task's run, host, queue and mark from its row. */
export function placeOf(row: TaskRow, run: string): TaskPlace {
  const { host, mark } = row;
  return { run, host, queue: queueOf(row), mark };
}

export function stateOfTask({ attempts, starts, throttles, firstSeen, deadline }: TaskRow): TaskState {
  return { attempts, starts, throttles, firstSeen, ...(deadline > 0 ? { deadline } : {}) };
}

type End = 'head' | 'tail';

/** Gives out places at both ends of each host's list. Each end is read when it is first needed: most calls need only one. */
export class Places {
  readonly #database: LocalDatabase;
  readonly #ends: Readonly<Record<End, Map<string, number>>> = { head: new Map(), tail: new Map() };

  constructor(database: LocalDatabase) {
    this.#database = database;
  }

  atTail(run: number, host: string, queue: number): number {
    return this.#next('tail', 1, [run, host, queue]);
  }

  /** The first of `count` places. */
  atHead(run: number, host: string, queue: number, count = 1): number {
    return this.#next('head', -count, [run, host, queue]);
  }

  #next(end: End, step: number, list: readonly [run: number, host: string, queue: number]): number {
    const [ends, name] = [this.#ends[end], list.join(' ')];
    const place = (ends.get(name) ?? this.#read(end, list)) + step;
    ends.set(name, place);
    return place;
  }

  /** In an empty list, heads begin below 1 and tails above 0, even while some places given at its head are not taken yet. */
  #read(end: End, list: readonly [run: number, host: string, queue: number]): number {
    const place = this.#database.get<{ place: number }>(
      `SELECT place FROM tasks WHERE run = ? AND host = ? AND queue = ? AND place IS NOT NULL ORDER BY place ${end === 'head' ? 'ASC' : 'DESC'} LIMIT 1`,
      ...list,
    )?.place;
    return end === 'head' ? (place ?? 1) : Math.max(place ?? 0, 0);
  }
}

/** The outcomes after which a task is over. */
export type EndOutcome = Extract<Outcome, { readonly kind: 'done' | 'skipped' | 'failed' }>;

/** What a task that is over has cost. */
export interface Spent {
  readonly bytes: number;
  readonly bytesSaved: number;
}

/** How a task ended, kept so that it can be taken back. */
export interface Ending extends Spent {
  readonly kind: EndOutcome['kind'];
  readonly reason?: string;
}

/** Writes an ending as text; the usual ones take the fewest characters. */
export function textOf({ kind, bytes, bytesSaved, reason }: Ending): string {
  if (reason !== undefined) return JSON.stringify([kind, bytes, bytesSaved, reason]);
  return JSON.stringify(bytesSaved === 0 ? [kind, bytes] : [kind, bytes, bytesSaved]);
}

/** Reads how a task that is over has ended. */
export function endingOf({ ending }: Pick<TaskRow, 'ending'>): Ending {
  const [kind, bytes, bytesSaved = 0, reason] = JSON.parse(ending ?? '["done",0]') as [
    Ending['kind'],
    number,
    number?,
    string?,
  ];
  return { kind, bytes, bytesSaved, ...(reason === undefined ? {} : { reason }) };
}
