import type { ReleaseName } from '../../../ports/frontier/frontier.ts';
import { groupOfMark } from '../../../task/group/group.ts';
import { isMember } from '../../../task/group/plan.ts';
import { MOST_HOSTS_TRIED } from '../../../task/host/breaker.ts';
import { MALFORMED_HOST } from '../../../task/url/fingerprint.ts';
import type { LocalDatabase } from '../database/database.ts';
import { RowCache } from '../database/row-cache.ts';
import { MARK, SHARED } from '../database/schema.ts';
import { type GroupEnding, GroupTable } from './groups.ts';
import { countReason } from './reason-counts.ts';
import { Recrawl } from './recrawl.ts';
import { type HostRow, newHost } from './rows/host-rows.ts';
import { MarkTable, sessionOf } from './rows/mark-table.ts';
import type { RowMemories, RunHostRow, RunRow } from './rows/run-rows.ts';
import { type EndOutcome, Places, type Spent, type TaskRow } from './rows/task-rows.ts';
import { TaskTable } from './rows/task-table.ts';
import { optionsOf } from './run-options.ts';
import { countStep } from './step-counts.ts';
import { NO_TROUBLE } from './troubles.ts';

interface MovesOptions {
  readonly database: LocalDatabase;
  readonly now: number;
  /** The runs that this process has to itself; undefined if it has all. */
  readonly owned: ReadonlySet<string> | undefined;
  readonly memories: RowMemories;
}

/**
 * The database as the calls of one transaction see it, and the moves that several calls make: the counterpart of `prelude.lua` in
 * Redis.
 */
export class Moves {
  readonly database: LocalDatabase;
  readonly now: number;
  readonly #owned: ReadonlySet<string> | undefined;
  readonly marks: MarkTable;
  readonly recrawl: Recrawl;
  readonly groups: GroupTable;
  readonly tasks: TaskTable;
  readonly #runs: RowCache<RunRow>;
  readonly #hosts: RowCache<HostRow>;
  readonly #runHosts: RowCache<RunHostRow>;
  readonly #places: Places;
  #nextTask: number | undefined;

  constructor({ database, now, owned, memories }: MovesOptions) {
    this.database = database;
    this.#owned = owned;
    this.now = now;
    this.marks = new MarkTable(database);
    this.recrawl = new Recrawl(database, this.marks);
    this.groups = new GroupTable(this, database);
    this.tasks = new TaskTable(database, memories.flights);
    this.#runs = new RowCache(database, { name: 'runs', keys: ['id'], memory: memories.runs });
    this.#hosts = new RowCache(database, { name: 'hosts', keys: ['host'], memory: memories.hosts });
    this.#runHosts = new RowCache(database, { name: 'runHosts', keys: ['run', 'host'], memory: memories.runHosts });
    this.#places = new Places(database);
  }

  /** Writes back what the transaction's calls have changed. Called before each query that depends on it, and at the end. */
  flush(isLast = false): void {
    this.#runs.flush(isLast);
    this.#hosts.flush(isLast);
    this.#runHosts.flush(isLast, isKept);
  }

  /** Remembers rows for the next transaction. Called once this one is committed. */
  remember(): void {
    this.#runs.remember();
    this.#hosts.remember();
    this.#runHosts.remember();
    this.tasks.remember();
  }

  /** Drops all rows read so far, because a query deletes or changes some. */
  forgetRows(): void {
    this.#runs.clear();
    this.#hosts.clear();
    this.#runHosts.clear();
    this.tasks.clear();
  }

  run(id: string): RunRow | undefined {
    return this.#runs.find([id]);
  }

  /** The open runs, in the order they were opened. */
  openRuns(): RunRow[] {
    this.#runs.flush(false);
    const open = this.database.all<{ id: string }>('SELECT id FROM runs WHERE opened IS NOT NULL ORDER BY opened');
    return open.map(({ id }) => this.run(id)).filter((run) => run !== undefined && run.opened !== null) as RunRow[];
  }

  /** The open runs that this process releases and reaps. */
  ownRuns(): RunRow[] {
    return this.openRuns().filter(({ id }) => this.#owned?.has(id) ?? true);
  }

  host(name: string): HostRow {
    return this.#hosts.get([name], () => newHost(name));
  }

  runHost(run: RunRow, host: string): RunHostRow {
    return this.#runHosts.get([run.n, host], () => ({
      run: run.n,
      host,
      readyAt: null,
      waiting: 0,
      hasAnswered: 0,
      ...NO_TROUBLE,
    }));
  }

  /** The owner of the marks that a run uses: its number, or {@link SHARED}. */
  ownerOf(run: RunRow): number {
    return optionsOf(run).dedup === 'run' ? run.n : SHARED;
  }

  /** The owner of one mark: a mark in a group is owned by the group. */
  ownerOfMark(run: RunRow, mark: string): number {
    const group = optionsOf(run).joins === undefined ? undefined : groupOfMark(mark);
    return group === undefined ? this.ownerOf(run) : this.groups.marksOf(run, group);
  }

  /** Lets release look at the run no later than `at`. */
  lookBy(run: RunRow, at: number): void {
    if (run.lookAt === null || at < run.lookAt) run.lookAt = at;
  }

  wakeHost(run: RunRow, host: RunHostRow): void {
    if (host.readyAt !== null) return;
    host.readyAt = this.now;
    this.lookBy(run, this.now);
  }

  /** Lets release look at a host in this run no earlier than `at`. */
  postponeHost(run: RunRow, host: RunHostRow, at: number): void {
    host.readyAt = at;
    this.lookBy(run, at);
  }

  /** Lets release look at a host at once, in every open run. */
  wakeEverywhere(name: string): void {
    for (const run of this.openRuns()) {
      const host = this.runHost(run, name);
      if ((host.readyAt ?? 0) > this.now) this.postponeHost(run, host, this.now);
    }
  }

  /** The id that the next task gets. */
  get nextTask(): number {
    this.#nextTask ??= (this.database.get<{ id: number | null }>('SELECT max(id) AS id FROM tasks')?.id ?? 0) + 1;
    return this.#nextTask;
  }

  /** Returns the first of `count` places for new tasks at the head of a host's list. */
  headPlaces(run: RunRow, { host, queue }: Pick<TaskRow, 'host' | 'queue'>, count: number): number {
    return this.#places.atHead(run.n, host, queue, count);
  }

  /** Adds a new task, at the tail of its host's list if no place is given. */
  add(
    run: RunRow,
    task: Pick<TaskRow, 'host' | 'queue' | 'mark' | 'firstSeen' | 'deadline' | 'form'>,
    place = this.#places.atTail(run.n, task.host, task.queue),
  ): void {
    const { host, queue, mark, firstSeen, deadline, form } = task;
    const id = this.nextTask;
    this.#nextTask = id + 1;
    this.database.run(
      'INSERT INTO tasks (id, run, host, queue, place, mark, firstSeen, deadline, form) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
      ...[id, run.n, host, queue, place, mark, firstSeen, deadline, form],
    );
    const own = this.runHost(run, host);
    own.waiting++;
    this.wakeHost(run, own);
  }

  /** Returns the ledger's entry of a release. */
  flight(run: RunRow | undefined, name: ReleaseName): TaskRow | undefined {
    return run === undefined ? undefined : this.tasks.flight(run.n, name);
  }

  /** Puts a task back into its host's list: at the head, since it had its turn, or at the tail. */
  putBack(run: RunRow, task: TaskRow, atTail = false): void {
    if (run.state === 'cancelled') {
      this.countCancelled(run, task);
      return;
    }
    run.waiting++;
    this.line(run, task, atTail);
  }

  /** Lets a task wait for its retry, outside the lists. */
  retry(run: RunRow, task: TaskRow, at: number): void {
    this.tasks.wait(task, { place: null, dueAt: at });
    run.waiting++;
    this.lookBy(run, at);
  }

  /** Counts a task as no longer in flight; the caller decides what becomes of it. */
  land(run: RunRow): void {
    run.inFlight--;
  }

  /** Ends a task. */
  end(
    run: RunRow,
    task: TaskRow,
    outcome: EndOutcome,
    spent: Spent,
    about: Pick<GroupEnding, 'input' | 'claimed'> = {},
  ): void {
    this.tasks.close(task, run.generation, { ...spent, ...outcome });
    run[outcome.kind]++;
    countStep(this.database, run.n, task, outcome.kind);
    if (outcome.kind === 'failed') this.freeClaim(run, task);
    const reason = outcome.kind === 'done' ? undefined : outcome.reason;
    this.groups.ended(run, task, { kind: outcome.kind, reason, ...about });
    if (outcome.kind === 'done') return;
    countReason(this.database, run.n, outcome.kind, outcome.reason);
    // A later run may try it again; this one won't. A malformed text stays known for ever.
    if (outcome.kind !== 'failed' || outcome.reason === 'malformed' || this.#isInGroup(run, task)) return;
    this.marks.fail(this.ownerOf(run), run.n, task.mark);
  }

  /** Has the run, or one that it shares its marks with, taken this mark? */
  isTaken(run: RunRow, mark: string): boolean {
    return this.marks.has(this.ownerOfMark(run, mark), mark, MARK.taken);
  }

  /** Takes a free mark for a task, and gives up the mark that the task had claimed before. */
  claim(run: RunRow, task: TaskRow, mark: string): void {
    this.freeClaim(run, task);
    const owner = this.ownerOfMark(run, mark);
    const found = { source: task.id, session: sessionOf(run, owner) };
    this.marks.add(owner, mark, MARK.taken, found);
    this.tasks.claim(task, mark);
    const { incremental, dedup } = optionsOf(run);
    // So that an incremental run doesn't take it again because of its age.
    if (incremental && dedup === 'ever' && !this.#isInGroup(run, { mark, host: task.host }))
      this.marks.add(run.n, mark, MARK.visited, found);
  }

  /** Gives up the mark that a task has claimed. */
  freeClaim(run: RunRow, task: TaskRow): void {
    if (task.claimed === null) return;
    this.marks.drop(this.ownerOfMark(run, task.claimed), task.claimed, MARK.taken);
    this.marks.drop(run.n, task.claimed, MARK.visited);
    task.claimed = null;
  }

  countCancelled(run: RunRow, task: TaskRow): void {
    this.tasks.remove(task);
    this.freeClaim(run, task);
    // Marks in a group are deleted with the group.
    if (this.#isInGroup(run, task)) {
      run.cancelled++;
      this.groups.ended(run, task, { kind: 'cancelled' });
      return;
    }
    const { incremental, joins } = optionsOf(run);
    const isKept = (incremental || joins !== undefined) && this.recrawl.free(run, task.mark);
    if (!isKept) this.marks.drop(this.ownerOf(run), task.mark, MARK.taken);
    run.cancelled++;
    this.groups.ended(run, task, { kind: 'cancelled' });
  }

  /** Whether a task's mark is in a group, or is that of a join. */
  #isInGroup(run: RunRow, { mark, host }: Pick<TaskRow, 'mark' | 'host'>): boolean {
    return optionsOf(run).joins !== undefined && host !== MALFORMED_HOST && isMember({ mark });
  }

  /** The one place where a run ends: nothing waits, nothing is in flight, and no seeds can come or matter any more. */
  finishIfDone(run: RunRow): void {
    if (run.inFlight > 0 || run.waiting > 0 || run.endedAt !== null) return;
    if (run.state !== 'cancelled') {
      if (run.completed === 0 || this.hasProducers(run)) return;
      if (this.groups.makeRunJoins(run)) return;
      run.state = 'finished';
    }
    run.endedAt = this.now;
    run.opened = null;
    run.lookAt = null;
  }

  /** Reopens a run that had ended. */
  reopen(run: RunRow): void {
    if (run.state === 'finished') run.state = 'running';
    run.endedAt = null;
    this.#runs.flush(false);
    const last = this.database.get<{ opened: number | null }>('SELECT max(opened) AS opened FROM runs');
    if ((last?.opened ?? null) === null) this.#tryHosts();
    run.opened ??= (last?.opened ?? 0) + 1;
  }

  /** With no run open, what is known about failing hosts is old: ends their breakers' pauses, so that one task tries each host. */
  #tryHosts(): void {
    this.#hosts.flush(false);
    const open = this.database.all<{ host: string }>(
      'SELECT host FROM hosts WHERE opened > 0 AND pausedUntil > 0 AND pausedUntil > ? AND pausedUntil = openUntil ORDER BY pausedUntil DESC LIMIT ?',
      ...[this.now, MOST_HOSTS_TRIED],
    );
    for (const { host } of open)
      Object.assign(this.host(host), { pausedUntil: 0, reason: '', openUntil: 0, probe: '' });
  }

  hasProducers(run: RunRow): boolean {
    return this.database.get('SELECT 1 FROM producers WHERE run = ? LIMIT 1', run.n) !== undefined;
  }

  /** Puts a task into its host's list: one that is put back, or a retry whose time has come. */
  line(run: RunRow, task: TaskRow, atTail = false): void {
    const { host, queue } = task;
    const place = atTail ? this.#places.atTail(run.n, host, queue) : this.#places.atHead(run.n, host, queue);
    this.tasks.wait(task, { place, dueAt: null });
    const own = this.runHost(run, host);
    own.waiting++;
    this.wakeHost(run, own);
  }
}

function isKept({ readyAt, waiting, troubleSince, hasAnswered }: RunHostRow): boolean {
  return readyAt !== null || waiting > 0 || troubleSince !== null || hasAnswered === 1;
}
