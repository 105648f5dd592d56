import {
  type Admission,
  type AttemptHistory,
  type AttemptNote,
  type Claims,
  type Frontier,
  type Ledger,
  MAX_OFFER,
  MAX_STARTS,
  type Offer,
  type OfferOptions,
  type OfferResult,
  type Release,
  type ReleaseName,
  type ReleaseOptions,
  type Settlement,
  type SettleReply,
  type TaskState,
  WORKING_MS,
} from '../../ports/frontier/frontier.ts';
import type { GroupInputs, GroupOwner, GroupStanding, Groups } from '../../ports/frontier/groups.ts';
import { MISSING_GAP_MS, type MissingSteps } from '../../ports/frontier/missing-steps.ts';
import type { HandOvers, QueuedLeases } from '../../ports/frontier/queued-leases.ts';
import { MAX_SLOT_WAIT_MS } from '../../ports/host-gate.ts';
import type { FailedReason } from '../../task/task/outcome.ts';
import { stepOfMark } from '../../task/url/fingerprint.ts';
import { expectOwnGroup } from '../group-offers.ts';
import { type FrontierPolicy, MOST_DRAINED, MOST_REAPED } from '../policy.ts';
import { ROWS_AT_ONCE } from './database/schema.ts';
import { notesOf } from './moves/attempt-notes.ts';
import { HostHealth, probeOf } from './moves/host-health.ts';
import type { LocalStore } from './moves/local-store.ts';
import type { Moves } from './moves/moves.ts';
import { Offering } from './moves/offering.ts';
import { type LookMemory, queuedLease, Releasing } from './moves/releasing.ts';
import type { RunRow } from './moves/rows/run-rows.ts';
import { stateOfTask, type TaskRow } from './moves/rows/task-rows.ts';
import { optionsOf } from './moves/run-options.ts';
import { Settling } from './moves/settling.ts';
import { UsableWindow } from './moves/usable-window.ts';

interface SqliteFrontierOptions {
  readonly store: LocalStore;
  readonly policy: FrontierPolicy;
  /**
   * Counts tasks as queued as soon as they are released, because their queue is in this process and loses none. That saves one change
   * per task. By default, they count as queued when `queued` says so.
   */
  readonly queuesAtOnce?: boolean;
}

/** The frontier of one machine, in SQLite. It passes the same suites as the one in Redis, and follows the same model. */
export class SqliteFrontier
  implements Frontier, AttemptHistory, Claims, Groups, QueuedLeases, HandOvers, Ledger, MissingSteps
{
  readonly #store: LocalStore;
  readonly #policy: FrontierPolicy;
  readonly #queuesAtOnce: boolean;
  readonly #memory: LookMemory = { looking: undefined, window: new UsableWindow() };

  /** Steps that this process lacks, by run. Only in memory, since a resumed crawl may have another crawler. */
  readonly #missing = new Map<string, { readonly since: number; readonly last: number }>();

  constructor({ store, policy, queuesAtOnce = false }: SqliteFrontierOptions) {
    this.#store = store;
    this.#policy = policy;
    this.#queuesAtOnce = queuesAtOnce;
  }

  async offer(id: string, tasks: readonly Offer[], options: OfferOptions = {}): Promise<OfferResult> {
    if (tasks.length > MAX_OFFER)
      throw new RangeError(`expected at most ${MAX_OFFER} tasks in one offer, got ${tasks.length}`);
    if (tasks.length === 0) return { accepted: 0, known: 0 };
    expectOwnGroup(tasks, options);
    return await this.#store.move((moves) => new Offering(moves, options).offer(id, tasks));
  }

  async release(options: ReleaseOptions): Promise<Release> {
    return await this.#store.move((moves) =>
      new Releasing(moves, {
        policy: this.#policy,
        memory: this.#memory,
        unpaced: options.unpaced,
        queuesAtOnce: this.#queuesAtOnce,
      }).run(options),
    );
  }

  async queued(id: string, releases: readonly ReleaseName[]): Promise<void> {
    if (this.#queuesAtOnce) return;
    await this.#store.move((moves) => {
      const { database, now } = moves;
      const n = moves.run(id)?.n ?? null;
      for (const { release, mark } of releases) {
        const task = database.get<Pick<TaskRow, 'id' | 'queue' | 'deadline'>>(
          "SELECT id, queue, deadline FROM tasks WHERE run = ? AND release = ? AND mark = ? AND phase = 'p'",
          ...[n, release, mark],
        );
        if (task === undefined) continue;
        const lease = queuedLease(task, this.#policy, now);
        database.run("UPDATE tasks SET phase = 'q', leaseUntil = ? WHERE id = ?", lease, task.id);
      }
    });
  }

  async admit(id: string, name: ReleaseName, worker: string): Promise<Admission> {
    return await this.#store.move((moves) => {
      const run = moves.run(id);
      if (run === undefined) return { verdict: 'unknown_run' };
      const task = moves.flight(run, name);
      if (task === undefined) return { verdict: 'gone' };
      run.touched = 1;
      if (task.worker === null) this.#memory.window.admitted(moves.now - name.release / 1_000, moves.now);
      const admission = admit(moves, run, task, worker);
      if (admission.verdict === 'work') this.#missing.delete(missingKey(id, task.mark));
      return admission;
    });
  }

  async renew(id: string, releases: readonly ReleaseName[]): Promise<void> {
    await this.#store.move((moves) => {
      const n = moves.run(id)?.n ?? null;
      for (const { release, mark } of releases)
        moves.database.run(
          "UPDATE tasks SET leaseUntil = ? WHERE run = ? AND release = ? AND mark = ? AND phase = 'w'",
          ...[moves.now + WORKING_MS, n, release, mark],
        );
    });
  }

  async settle(id: string, name: ReleaseName, settlement: Settlement): Promise<SettleReply> {
    return await this.#store.move((moves) => new Settling(moves).settle(id, name, settlement));
  }

  async fail(id: string, releases: readonly ReleaseName[], reason: FailedReason): Promise<void> {
    const settlement: Settlement = { outcome: { kind: 'failed', reason } };
    await this.#store.move((moves) => {
      const settling = new Settling(moves);
      for (const release of releases) settling.settle(id, release, settlement);
    });
  }

  async reap(): Promise<number> {
    return await this.#store.move((moves) => {
      let budget = MOST_REAPED;
      for (const run of moves.ownRuns()) {
        const lapsed = moves.database.all<TaskRow>(
          'SELECT * FROM tasks WHERE run = ? AND release IS NOT NULL AND leaseUntil <= ? ORDER BY leaseUntil, release LIMIT ?',
          ...[run.n, moves.now, budget],
        );
        putBackAll(moves, run, lapsed);
        budget -= lapsed.length;
        if (budget <= 0) break;
      }
      return MOST_REAPED - budget;
    });
  }

  async drain(): Promise<number> {
    return await this.#store.move((moves) => {
      let budget = MOST_DRAINED;
      // Runs of every process: nobody works on the waiting tasks of a cancelled run.
      for (const run of moves.openRuns()) {
        if (run.state === 'cancelled') budget -= drainRun(moves, run, budget);
        if (budget <= 0) break;
      }
      return MOST_DRAINED - budget;
    });
  }

  async endQueued(id: string): Promise<{ ended: number; next: string | undefined }> {
    return await this.#store.move((moves) => {
      const run = moves.run(id);
      if (run === undefined) return { ended: 0, next: undefined };
      // The last number first, since each goes to the head of its list.
      const queued = moves.database.all<TaskRow>(
        "SELECT * FROM tasks WHERE run = ? AND release IS NOT NULL AND phase = 'q' ORDER BY release DESC LIMIT ?",
        ...[run.n, ROWS_AT_ONCE],
      );
      putBackAll(moves, run, queued);
      return { ended: queued.length, next: queued.length < ROWS_AT_ONCE ? undefined : 'more' };
    });
  }

  async handed(id: string, releases: readonly ReleaseName[]): Promise<void> {
    await this.#store.move((moves) => {
      const n = moves.run(id)?.n ?? null;
      // One that was admitted meanwhile stays as it is.
      for (const { release, mark } of releases)
        moves.database.run(
          "UPDATE tasks SET phase = 'w', leaseUntil = ? WHERE run = ? AND release = ? AND mark = ? AND worker IS NULL",
          ...[moves.now + WORKING_MS, n, release, mark],
        );
    });
  }

  async missing(id: string, name: ReleaseName): Promise<{ forMs: number; state: TaskState } | undefined> {
    return await this.#store.move((moves) => {
      const { now } = moves;
      const task = moves.flight(moves.run(id), name);
      if (task === undefined) return undefined;
      const key = missingKey(id, task.mark);
      const { since, last } = this.#missing.get(key) ?? { since: now, last: now };
      const from = now - last > MISSING_GAP_MS ? now : since;
      this.#missing.set(key, { since: from, last: now });
      return { forMs: now - from, state: stateOfTask(task) };
    });
  }

  async claim(id: string, name: ReleaseName, mark: string): Promise<'claimed' | 'taken' | 'stale'> {
    return await this.#store.move((moves) => {
      const run = moves.run(id);
      const task = moves.flight(run, name);
      if (run === undefined || task === undefined) return 'stale';
      if (isOthers(moves, run, task, mark)) return 'taken';
      if (task.mark !== mark && task.claimed !== mark) moves.claim(run, task, mark);
      return 'claimed';
    });
  }

  async isTaken(id: string, name: ReleaseName, mark: string): Promise<boolean> {
    return await this.#store.move((moves) => {
      const run = moves.run(id);
      const task = moves.flight(run, name);
      return run !== undefined && task !== undefined && isOthers(moves, run, task, mark);
    });
  }

  async inputs(id: string, name: ReleaseName): Promise<GroupInputs | 'stale'> {
    return await this.#store.move((moves) => {
      const run = moves.run(id);
      const task = moves.flight(run, name);
      return run === undefined || task === undefined ? 'stale' : moves.groups.inputs(run, task.mark);
    });
  }

  async group(id: string, group: string): Promise<GroupStanding | undefined> {
    return await this.#store.move((moves) => {
      const run = moves.run(id);
      return run === undefined ? undefined : moves.groups.standing(run, group);
    });
  }

  async owner(id: string, group: string): Promise<GroupOwner | undefined> {
    return await this.#store.move((moves) => {
      const run = moves.run(id);
      return run === undefined ? undefined : moves.groups.owner(run, group);
    });
  }

  async markOf(id: string, release: number): Promise<string | undefined> {
    return await this.#store.move(({ database }) => {
      const found = database.get<{ mark: string }>(
        'SELECT mark FROM tasks JOIN runs ON runs.n = tasks.run WHERE runs.id = ? AND release = ?',
        id,
        release,
      );
      return found?.mark;
    });
  }

  async attempts(mark: string): Promise<readonly AttemptNote[]> {
    return await this.#store.move((moves) => notesOf(moves, mark));
  }
}

function missingKey(run: string, mark: string): string {
  return `${run} ${stepOfMark(mark)}`;
}

/** Is a delivery still wanted, and may its host be asked now? */
function admit(moves: Moves, run: RunRow, task: TaskRow, worker: string): Admission {
  const { now } = moves;
  const health = new HostHealth(moves, task.host);
  const probe = probeOf(run.id, task.release ?? 0);
  const giveBack = (): void => {
    moves.land(run);
    moves.putBack(run, task);
    if (health.isTried) health.drop(probe);
  };
  if (run.state === 'cancelled' || run.state === 'paused') {
    giveBack();
    if (run.state === 'paused') return { verdict: 'put_back' };
    moves.finishIfDone(run);
    return { verdict: 'cancelled' };
  }
  const isLate = task.deadline > 0 && task.deadline <= now;
  const pausedMs = Math.max(0, moves.host(task.host).pausedUntil - now);
  if (!isLate && (pausedMs > MAX_SLOT_WAIT_MS || health.triedUntil(probe) !== undefined)) {
    giveBack();
    return { verdict: 'put_back' };
  }
  moves.tasks.start(task, worker, now);
  const { incarnation } = run;
  const state = stateOfTask(task);
  if (isLate) return { verdict: 'deadline', incarnation, state };
  if (task.starts > MAX_STARTS) return { verdict: 'crash_loop', incarnation, state };
  if (health.isTried) health.admit(probe);
  const known = optionsOf(run).incremental ? moves.recrawl.get(task.mark, now) : undefined;
  const { answersOthers } = health;
  const admission = { verdict: 'work', incarnation, state, pausedMs, answersOthers } as const;
  return known === undefined ? admission : { ...admission, known };
}

/** Does another task have this mark, so that this one can't claim it? */
function isOthers(moves: Moves, run: RunRow, task: TaskRow, mark: string): boolean {
  return task.mark !== mark && task.claimed !== mark && moves.isTaken(run, mark);
}

function putBackAll(moves: Moves, run: RunRow, tasks: readonly TaskRow[]): void {
  for (const task of tasks) {
    moves.land(run);
    moves.putBack(run, { ...task });
  }
  if (tasks.length > 0) moves.finishIfDone(run);
}

/** Counts waiting tasks of a cancelled run as cancelled, `most` at most. Returns how many. */
function drainRun(moves: Moves, run: RunRow, most: number): number {
  const waiting = (where: string, limit: number): TaskRow[] =>
    moves.database.all<TaskRow>(`SELECT * FROM tasks WHERE run = ? AND ${where} IS NOT NULL LIMIT ?`, run.n, limit);
  const lined = waiting('place', most);
  const tasks = [...lined, ...waiting('dueAt', most - lined.length)];
  for (const task of tasks) {
    if (task.dueAt === null) {
      const own = moves.runHost(run, task.host);
      own.waiting--;
      if (own.waiting === 0) own.readyAt = null;
    }
    moves.countCancelled(run, { ...task });
  }
  run.waiting -= tasks.length;
  moves.finishIfDone(run);
  return tasks.length;
}
