import type { Offer, ReleasedTask, TaskState } from '../../ports/frontier.ts';
import type { Queue } from '../../task/task/routing.ts';
import type { Task } from '../../task/task/task.ts';
import { malformedMarkOf } from '../../task/url/fingerprint.ts';
import { MALFORMED_HOST } from '../policy.ts';
import type { LocalDatabase } from './database.ts';

export type Phase = 'publishing' | 'queued' | 'working';

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
  readonly ending: string | null;
  form: string;
}

/** What a task is beyond the columns that the store goes by. */
interface Form {
  readonly url: string;
  readonly step?: string;
  readonly depth?: number;
  readonly within?: string;
  readonly redirects?: readonly string[];
  readonly logins?: Readonly<Record<string, string>>;
  /** Why a malformed text is no URL. */
  readonly problem?: string;
}

export const QUEUE_NUMBERS: Readonly<Record<Queue, number>> = { priority: 0, normal: 1 };
const QUEUE_NAMES: readonly Queue[] = ['priority', 'normal'];

export function queueOf({ queue }: Pick<TaskRow, 'queue'>): Queue {
  return QUEUE_NAMES[queue] ?? 'normal';
}

/** What an offer becomes as a task; its id and its place aren't known yet. */
export function newTask(
  offer: Offer,
  now: number,
): Pick<TaskRow, 'host' | 'queue' | 'mark' | 'firstSeen' | 'deadline' | 'form'> {
  if ('malformed' in offer) {
    const mark = malformedMarkOf(offer.malformed);
    const form: Form = { url: mark, problem: offer.problem };
    return { host: MALFORMED_HOST, queue: 1, mark, firstSeen: now, deadline: 0, form: JSON.stringify(form) };
  }
  const { host, mark, queue, deadlineMs, url, step, depth, within, redirects, logins } = offer;
  const form: Form = {
    url,
    ...(step === '' ? {} : { step }),
    ...(depth === 0 ? {} : { depth }),
    ...(within === undefined ? {} : { within }),
    ...(redirects === undefined ? {} : { redirects }),
    ...(logins === undefined ? {} : { logins }),
  };
  return {
    host,
    queue: QUEUE_NUMBERS[queue],
    mark,
    firstSeen: now,
    deadline: deadlineMs === undefined ? 0 : now + deadlineMs,
    form: JSON.stringify(form),
  };
}

/** The task of a row, as a run's. */
export function taskOf(row: TaskRow, run: string): { readonly task: Task } & Pick<ReleasedTask, 'problem'> {
  const { url, step = '', depth = 0, problem, ...way } = JSON.parse(row.form) as Form;
  const { host, mark } = row;
  const task = { run, url, host, mark, step, depth, queue: queueOf(row), ...way };
  return problem === undefined ? { task } : { task, problem };
}

/** The form of a task that redirects have led elsewhere. */
export function movedForm(form: string, moved: Pick<Form, 'redirects' | 'logins'>): string {
  const { redirects, logins } = moved;
  const next: Form = { ...(JSON.parse(form) as Form), ...(redirects === undefined ? {} : { redirects }) };
  return JSON.stringify(logins === undefined ? next : { ...next, logins });
}

export function stateOfTask({ attempts, starts, throttles, firstSeen, deadline }: TaskRow): TaskState {
  return { attempts, starts, throttles, firstSeen, ...(deadline > 0 ? { deadline } : {}) };
}

/** Where new tasks go in a host's list. */
export class Places {
  readonly #database: LocalDatabase;
  readonly #ends = new Map<string, { first: number; last: number }>();

  constructor(database: LocalDatabase) {
    this.#database = database;
  }

  atTail(run: number, host: string, queue: number): number {
    const ends = this.#endsOf(run, host, queue);
    return ++ends.last;
  }

  atHead(run: number, host: string, queue: number): number {
    const ends = this.#endsOf(run, host, queue);
    return --ends.first;
  }

  #endsOf(run: number, host: string, queue: number): { first: number; last: number } {
    const key = `${run} ${queue} ${host}`;
    let ends = this.#ends.get(key);
    if (ends === undefined) {
      const end = (order: 'ASC' | 'DESC'): number | undefined =>
        this.#database.get<{ place: number }>(
          `SELECT place FROM tasks WHERE run = ? AND host = ? AND queue = ? AND place IS NOT NULL ORDER BY place ${order} LIMIT 1`,
          ...[run, host, queue],
        )?.place;
      const last = end('DESC');
      ends = last === undefined ? { first: 1, last: 0 } : { first: end('ASC') ?? last, last };
      this.#ends.set(key, ends);
    }
    return ends;
  }
}
