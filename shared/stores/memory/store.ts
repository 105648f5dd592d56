import type { Offer, ReleaseName, TaskState } from '../../ports/frontier.ts';
import type { RunOptions, RunState } from '../../ports/runs.ts';
import { Deque } from '../../runtime/deque.ts';
import { INITIAL_FIELDS } from '../../task/task/form.ts';
import type { Outcome } from '../../task/task/outcome.ts';
import type { Queue } from '../../task/task/routing.ts';
import type { Task } from '../../task/task/task.ts';
import { MALFORMED_HOST, malformedMarkOf } from '../../task/url/fingerprint.ts';
import { MemoryHosts } from './hosts.ts';
import { Recrawl } from './recrawl.ts';
import { TimeTable } from './time-table.ts';

/** A task as this store keeps it. */
export interface StoredTask extends Omit<Task, 'run'> {
  readonly problem?: string;
  readonly firstSeen: number;
  readonly deadline: number;
  /** Its place in the run's journal, if it has one; see `stores/journal`. */
  number: number;
  attempts: number;
  starts: number;
  throttles: number;
}

/** The outcomes after which a task is over. */
export type EndOutcome = Extract<Outcome, { readonly kind: 'done' | 'skipped' | 'failed' }>;

/** A task in the ledger. */
export interface Flight {
  phase: 'publishing' | 'queued' | 'working';
  /** Who was told to work on it, and since when. */
  worker?: string | undefined;
  since: number;
  readonly task: StoredTask;
}

/** A producer that a run waits for. */
export interface OpenProducer {
  /** Until when it counts as alive. */
  till: number;
  /** See {@link OpenHow.input}. */
  readonly input?: string | undefined;
}

/** One run: the memory form of `run:{id}` and the keys behind it. */
export interface MemoryRun {
  readonly id: string;
  readonly incarnation: string;
  readonly options: RunOptions;
  startedAt: number;
  state: RunState;
  pauseReason: string;
  endedAt: number | undefined;
  touched: boolean;
  completed: number;
  releases: number;
  discovered: number;
  duplicate: number;
  /** Links that were left out for their host, and the hosts that were counted, by domain. */
  leftOutForHost: number;
  readonly countedHosts: Map<string, Set<string>>;
  waiting: number;
  done: number;
  skipped: number;
  failed: number;
  cancelled: number;
  bytes: number;
  bytesSaved: number;
  readonly reasons: { failed: Record<string, number>; skipped: Record<string, number> };
  readonly producers: Map<string, OpenProducer>;
  readonly lists: Map<string, Record<Queue, Deque<StoredTask>>>;
  readonly ready: TimeTable;
  /** Retries by a name of their own, and when they are due. */
  readonly retries: Map<string, StoredTask>;
  readonly retryTimes: TimeTable;
  readonly flights: Map<string, Flight>;
  readonly leases: TimeTable;
  readonly seen: Set<string>;
  /** What an incremental run has taken, when its marks are shared. */
  readonly taken: Set<string>;
  readonly failedMarks: Set<string>;
  /** A task's mark → the mark that it has claimed. */
  readonly claims: Map<string, string>;
  readonly trouble: Map<string, { since: number; last: number }>;
}

/** Everything that the memory frontier and the memory runs share, and the moves that both make: the memory form of `prelude.lua`. */
export class MemoryStore {
  readonly runs = new Map<string, MemoryRun>();
  readonly openRuns = new Set<string>();
  readonly ready = new TimeTable();
  readonly crawledUrls = new Set<string>();
  readonly recrawl = new Recrawl();
  readonly hosts: MemoryHosts;
  /** Who looks for due tasks for all, and until when the others leave it to that one. */
  looking: { readonly looker: string; readonly till: number } | undefined;

  constructor(hosts: MemoryHosts = new MemoryHosts()) {
    this.hosts = hosts;
    hosts.whenResumed((host, now) => this.#wakeResumed(host, now));
  }

  createRun(id: string, options: RunOptions, now: number, incarnation: string): MemoryRun {
    const run: MemoryRun = {
      id,
      incarnation,
      options,
      startedAt: now,
      state: 'running',
      pauseReason: '',
      endedAt: undefined,
      touched: false,
      completed: 0,
      releases: 0,
      discovered: 0,
      duplicate: 0,
      leftOutForHost: 0,
      countedHosts: new Map(),
      waiting: 0,
      done: 0,
      skipped: 0,
      failed: 0,
      cancelled: 0,
      bytes: 0,
      bytesSaved: 0,
      reasons: { failed: {}, skipped: {} },
      producers: new Map(),
      lists: new Map(),
      ready: new TimeTable(),
      retries: new Map(),
      retryTimes: new TimeTable(),
      flights: new Map(),
      leases: new TimeTable(),
      seen: new Set(),
      taken: new Set(),
      failedMarks: new Set(),
      claims: new Map(),
      trouble: new Map(),
    };
    this.runs.set(id, run);
    return run;
  }

  /** A pause was ended by hand: release may look at the host at once, in every open run. */
  #wakeResumed(host: string, now: number): void {
    for (const run of this.listOpenRuns()) run.trouble.delete(host);
    this.wakeEverywhere(host, now);
  }

  /** Lets release look at a host at once, in every open run. */
  wakeEverywhere(host: string, now: number): void {
    for (const run of this.listOpenRuns()) {
      if ((run.ready.get(host) ?? 0) > now) this.postponeHost(run, host, now);
    }
  }

  marksOf(run: MemoryRun): Set<string> {
    return run.options.dedup === 'run' ? run.seen : this.crawledUrls;
  }

  /** The open runs, in the order they were opened. */
  listOpenRuns(): MemoryRun[] {
    return [...this.openRuns].map((id) => this.runs.get(id)).filter((run) => run !== undefined);
  }

  listsOf(run: MemoryRun, host: string): Record<Queue, Deque<StoredTask>> {
    let lists = run.lists.get(host);
    if (lists === undefined) {
      lists = { priority: new Deque(), normal: new Deque() };
      run.lists.set(host, lists);
    }
    return lists;
  }

  wakeHost(run: MemoryRun, host: string, now: number): void {
    if (run.ready.add(host, now)) this.ready.lower(run.id, now);
  }

  /** Nothing of the host is released in this run before `at`. */
  postponeHost(run: MemoryRun, host: string, at: number): void {
    run.ready.set(host, at);
    this.ready.lower(run.id, at);
  }

  leaveLedger(run: MemoryRun, release: string): void {
    run.flights.delete(release);
    run.leases.delete(release);
  }

  /** Back to its host's list: at the head, since it was its turn, or at the tail. */
  putBack(run: MemoryRun, task: StoredTask, now: number, atTail = false): void {
    if (run.state === 'cancelled') {
      this.countCancelled(run, task);
      return;
    }
    const list = this.listsOf(run, task.host)[task.queue];
    if (atTail) list.push(task);
    else list.unshift(task);
    run.waiting++;
    this.wakeHost(run, task.host, now);
  }

  /** A retry waits for its time beside the lists. */
  retry(run: MemoryRun, task: StoredTask, at: number): void {
    const name = retryName(task);
    run.retries.set(name, task);
    run.retryTimes.set(name, at);
    run.waiting++;
    this.ready.lower(run.id, at);
  }

  /** A task that is over. */
  end(run: MemoryRun, { mark }: StoredTask, outcome: EndOutcome): void {
    run[outcome.kind]++;
    if (outcome.kind === 'failed') this.freeClaim(run, mark);
    run.claims.delete(mark);
    if (outcome.kind === 'done') return;
    const reasons = run.reasons[outcome.kind];
    reasons[outcome.reason] = (reasons[outcome.reason] ?? 0) + 1;
    // A later run may try again; this one won't. What is no URL stays known for good.
    if (outcome.kind !== 'failed' || outcome.reason === 'malformed') return;
    if (this.marksOf(run).delete(mark)) run.failedMarks.add(mark);
    if (run.options.incremental && run.options.dedup === 'ever') this.recrawl.lose(mark);
  }

  /** Takes a mark that is free for a task, which lets go of what it had claimed before. */
  claim(run: MemoryRun, own: string, mark: string): void {
    this.freeClaim(run, own);
    this.marksOf(run).add(mark);
    run.claims.set(own, mark);
    // An incremental run doesn't take it again for its age.
    if (run.options.incremental && run.options.dedup === 'ever') run.taken.add(mark);
  }

  /** Lets go of what a task has claimed. */
  freeClaim(run: MemoryRun, own: string): void {
    const claimed = run.claims.get(own);
    if (claimed === undefined) return;
    this.marksOf(run).delete(claimed);
    run.taken.delete(claimed);
    run.claims.delete(own);
  }

  countCancelled(run: MemoryRun, task: StoredTask): void {
    this.freeClaim(run, task.mark);
    if (!run.options.incremental || !this.recrawl.free(run, task.mark)) this.marksOf(run).delete(task.mark);
    run.cancelled++;
  }

  /** The one place where a run ends: nothing waits, nothing is in flight, and no seeds can come or matter any more. */
  finishIfDone(run: MemoryRun, now: number): void {
    if (run.flights.size > 0 || run.waiting > 0 || run.endedAt !== undefined) return;
    if (run.state !== 'cancelled') {
      if (run.completed === 0 || run.producers.size > 0) return;
      run.state = 'finished';
    }
    run.endedAt = now;
    this.openRuns.delete(run.id);
    this.ready.delete(run.id);
  }
}

/** Retries that are due at one moment go in the order of Redis' put-back entries. */
function retryName({ host, queue, attempts, starts, throttles, deadline, firstSeen, mark }: StoredTask): string {
  return `${host} ${queue} ${attempts} ${starts} ${throttles} ${deadline} ${firstSeen}\t${mark}`;
}

export function storedTask(offer: Offer, now: number): StoredTask {
  const counters = { firstSeen: now, number: 0, attempts: 0, starts: 0, throttles: 0 };
  if ('malformed' in offer) {
    const mark = malformedMarkOf(offer.malformed);
    const { problem } = offer;
    return {
      url: mark,
      mark,
      problem,
      host: MALFORMED_HOST,
      step: '',
      queue: 'normal',
      ...INITIAL_FIELDS,
      deadline: 0,
      ...counters,
    };
  }
  const { deadlineMs, changedAt: _, domain: __, ...task } = offer;
  return {
    ...task,
    deadline: deadlineMs === undefined ? 0 : now + deadlineMs,
    ...counters,
  };
}

/** What the ledger holds of a release. */
export function flightOf(run: MemoryRun | undefined, { release, mark }: ReleaseName): Flight | undefined {
  const flight = run?.flights.get(String(release));
  return flight?.task.mark === mark ? flight : undefined;
}

/** The task itself, without what the store knows of it. */
export function taskOfStored(run: string, stored: StoredTask): Task {
  const { problem, firstSeen, deadline, number, attempts, starts, throttles, ...task } = stored;
  return { run, ...task };
}

export function stateOfTask({ attempts, starts, throttles, firstSeen, deadline }: StoredTask): TaskState {
  return { attempts, starts, throttles, firstSeen, ...(deadline > 0 ? { deadline } : {}) };
}
