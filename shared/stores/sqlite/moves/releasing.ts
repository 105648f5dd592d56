import {
  LOOK_LEASE_MS,
  type Release,
  type ReleasedTask,
  type ReleaseOptions,
  type ReleaseVerdict,
} from '../../../ports/frontier/frontier.ts';
import { JOIN_HOST } from '../../../task/group/group.ts';
import { downAt, isDown } from '../../../task/host/host-trouble.ts';
import { RETRY_AFTER_CAP_MS } from '../../../task/host/retry-after.ts';
import { MALFORMED_HOST } from '../../../task/url/fingerprint.ts';
import {
  FAST_LEAD_MS,
  type FrontierPolicy,
  HIGHEST_START,
  IDLE_LOOK_MS,
  INTERVAL_KNOWN_MS,
  LEAD_MS,
  MOST_LOOKS,
  MOST_RETRIES_WOKEN,
  MOST_RUNS_LOOKED_AT,
  PUBLISHING_MS,
  QUEUED_PAST_DEADLINE_MS,
  QUEUED_PAST_TTL_MS,
} from '../../policy.ts';
import { readStored } from '../../stored-task.ts';
import { HostHealth, probeOf } from './host-health.ts';
import type { Moves } from './moves.ts';
import { type HostRow, paceOf, rateOf } from './rows/host-rows.ts';
import type { RunHostRow, RunRow } from './rows/run-rows.ts';
import { placeOf, QUEUES, stateOfTask, type TaskRow } from './rows/task-rows.ts';
import { optionsOf } from './run-options.ts';
import { noteDown, timesOf } from './troubles.ts';
import type { UsableWindow } from './usable-window.ts';

interface Wanted {
  /** Maximum tasks to be worked on. */
  readonly count: number;
  /** Maximum tasks together with those past their deadline, which need no pace. */
  readonly most: number;
  /** The verdict of all tasks, if they are released only to fail. */
  readonly forced: ReleaseVerdict | undefined;
  readonly fromTail: boolean;
}

/** Only the columns that release needs, since each one costs time. Priority tasks come before normal ones. */
const WAITING = `SELECT id, run, host, queue, mark, claimed, attempts, starts, throttles, firstSeen, deadline, form FROM tasks
  WHERE run = ? AND host = ? AND place IS NOT NULL`;
const FIRST_WAITING = `${WAITING} ORDER BY queue, place LIMIT ?`;
/**
 * For a host that a single task tries: tasks at the tail have waited least. It reads one queue, since ordering both would read all
 * tasks of the host.
 */
const LAST_WAITING = `${WAITING} AND queue = ? ORDER BY place DESC LIMIT ?`;

/** The state that this process keeps from one look to the next. Other processes have other runs. */
export interface LookMemory {
  /** Which caller looks for due tasks for all others, and until when. */
  looking: { readonly looker: string; readonly till: number } | undefined;
  readonly window: UsableWindow;
}

interface ReleasingOptions {
  readonly policy: FrontierPolicy;
  readonly memory: LookMemory;
  /** No worker is alive: tasks of untouched runs don't wait for their host's pace. */
  readonly unpaced: boolean;
  /** See `SqliteFrontierOptions`. */
  readonly queuesAtOnce: boolean;
}

/** One call of `release`: see `stores/redis/lua/tasks/release.lua`, which follows the same rules in the same order. */
export class Releasing {
  readonly #moves: Moves;
  readonly #policy: FrontierPolicy;
  readonly #memory: LookMemory;
  readonly #unpaced: boolean;
  readonly #queuesAtOnce: boolean;
  readonly #tasks: ReleasedTask[] = [];
  #looks = 0;

  constructor(moves: Moves, { policy, memory, unpaced, queuesAtOnce }: ReleasingOptions) {
    this.#moves = moves;
    this.#memory = memory;
    this.#policy = policy;
    this.#unpaced = unpaced;
    this.#queuesAtOnce = queuesAtOnce;
  }

  run({ limit, window: most, looker }: ReleaseOptions): Release {
    const { now } = this.#moves;
    const leftMs = looker === undefined ? 0 : this.#leftToOther(looker);
    if (leftMs > 0) return { tasks: [], nextLookMs: leftMs, now, isLeftToOther: true };
    const open = this.#moves.ownRuns();
    const out = open.reduce((sum, run) => sum + run.inFlight, 0);
    const window = this.#memory.window.size(most, out, now);
    let budget = Math.min(limit, window - out);
    const wanting = open
      .filter(({ lookAt }) => lookAt !== null && lookAt <= now)
      .sort((a, b) => (a.lookAt ?? 0) - (b.lookAt ?? 0) || (a.id < b.id ? -1 : 1))
      .slice(0, MOST_RUNS_LOOKED_AT);
    const share = Math.floor(window / Math.max(1, wanting.length));
    const outOf = new Map(wanting.map((run) => [run, run.inFlight]));
    // Looks are shared too: a run whose hosts were all paused at once needs many, and releases nothing for them.
    const looksEach = Math.ceil(MOST_LOOKS / Math.max(1, wanting.length));
    for (const lend of [false, true]) {
      for (const run of wanting) {
        const quota = lend ? budget : Math.min(budget, share - (outOf.get(run) ?? 0));
        const mostLooks = Math.min(lend ? MOST_LOOKS : looksEach, MOST_LOOKS - this.#looks);
        if (quota > 0 && mostLooks > 0) budget -= this.#visitRun(run, quota, mostLooks);
      }
    }
    if (looker !== undefined) {
      // After a full look, there is more to do than one caller can: the next one helps.
      const isFull = this.#tasks.length >= limit;
      this.#memory.looking = isFull ? undefined : { looker, till: now + LOOK_LEASE_MS };
    }
    const first = Math.min(...open.map(({ lookAt }) => lookAt ?? Number.POSITIVE_INFINITY));
    const nextLookMs = first === Number.POSITIVE_INFINITY ? IDLE_LOOK_MS : Math.max(0, first - now);
    return { tasks: this.#tasks, nextLookMs, now };
  }

  #leftToOther(looker: string): number {
    const { looking } = this.#memory;
    if (looking === undefined || looking.looker === looker) return 0;
    const leftMs = looking.till - this.#moves.now;
    return leftMs <= LOOK_LEASE_MS ? leftMs : 0;
  }

  #visitRun(run: RunRow, quota: number, mostLooks: number): number {
    const { now } = this.#moves;
    if (run.state !== 'running') {
      run.lookAt = null;
      return 0;
    }
    run.releases = Math.max(run.releases, Math.min(now * 1_000, HIGHEST_START));
    this.#wakeRetries(run);
    this.#moves.flush();
    let left = quota;
    for (const host of this.#dueHosts(run, mostLooks)) {
      if (left <= 0) break;
      this.#looks++;
      left -= this.#visitHost(run, host, left);
    }
    this.#moves.flush();
    this.#reschedule(run);
    return quota - left;
  }

  /**
   * Returns the due hosts, the longest due first. If there are more than looks, those that became due last take turns with them:
   * hosts that were just asked continue over the same connections before all others have had their first turn.
   */
  #dueHosts(run: RunRow, most: number): Iterable<string> {
    const oldest = this.#due(run, 'readyAt, host', most);
    if (oldest.length < most) return oldest;
    const newest = this.#due(run, 'readyAt DESC, host DESC', Math.ceil(most / 2));
    const inTurns = oldest.flatMap((host, i) => (newest[i] === undefined ? [host] : [newest[i], host]));
    return new Set(inTurns).values().take(most);
  }

  #due(run: RunRow, order: string, most: number): string[] {
    const due = this.#moves.database.all<{ host: string }>(
      `SELECT host FROM runHosts WHERE run = ? AND readyAt <= ? ORDER BY ${order} LIMIT ?`,
      ...[run.n, this.#moves.now, most],
    );
    return due.map(({ host }) => host);
  }

  /** Moves retries whose time has come to the head of their host's list. */
  #wakeRetries(run: RunRow): void {
    const due = this.#moves.database.all<TaskRow>(
      `SELECT * FROM tasks WHERE run = ? AND dueAt <= ?
       ORDER BY dueAt, host, queue DESC, attempts, starts, throttles, deadline, firstSeen, mark LIMIT ?`,
      ...[run.n, this.#moves.now, MOST_RETRIES_WOKEN],
    );
    for (const task of due) this.#moves.line(run, task);
  }

  /** Sets when to look at a run again: at its first host's or first retry's time. */
  #reschedule(run: RunRow): void {
    const first = this.#moves.database.get<{ at: number | null }>(
      `SELECT min(at) AS at FROM (
         SELECT min(readyAt) AS at FROM runHosts WHERE run = ?1 AND readyAt IS NOT NULL
         UNION ALL SELECT min(dueAt) FROM tasks WHERE run = ?1 AND dueAt IS NOT NULL)`,
      run.n,
    );
    run.lookAt = first?.at ?? null;
  }

  /** Releases due tasks of one host. Returns how many were taken. */
  #visitHost(run: RunRow, name: string, quota: number): number {
    const { now } = this.#moves;
    const own = this.#moves.runHost(run, name);
    const host = this.#moves.host(name);
    const health = new HostHealth(this.#moves, name);
    let count = quota;
    let pace = 0;
    let lead = LEAD_MS;
    let cursor = now;
    let forced: ReleaseVerdict | undefined;
    let { isTried } = health;
    if (name === MALFORMED_HOST) {
      forced = 'malformed';
      isTried = false;
    } else if (this.#isDown(run, own, host)) {
      forced = 'host_down';
      isTried = false;
      noteDown(run, own);
    } else {
      const farthest = now + RETRY_AFTER_CAP_MS;
      const paused = host.byHand === 1 ? host.pausedUntil : Math.min(host.pausedUntil, farthest);
      if (paused > now) {
        const times = host.byHand === 1 ? undefined : timesOf(own);
        const giveUpAt = times === undefined ? paused : downAt(times, this.#policy.giveUpMs);
        own.readyAt = Math.min(paused, Math.max(giveUpAt, now + LEAD_MS));
        return 0;
      }
      if (name !== JOIN_HOST && !(this.#unpaced && run.touched === 0)) pace = this.#paceOf(run, name);
      if (pace > 0) {
        // Where workers reached slots too late to use them, the gate's next slot is ahead of the release cursor.
        cursor = Math.min(Math.max(now, host.releaseAt, host.nextAt), farthest);
        if (pace < FAST_LEAD_MS) lead = FAST_LEAD_MS;
        if (cursor > now + lead) {
          own.readyAt = cursor - lead;
          return 0;
        }
        count = Math.min(quota, Math.floor((now + lead - cursor) / pace) + 1);
      }
      const triedUntil = health.triedUntil();
      if (triedUntil !== undefined) {
        own.readyAt = triedUntil;
        return 0;
      }
    }
    // The breaker's pause is over: one task tries the host. It comes from the tail, as those at the head have just failed.
    if (isTried) count = 1;
    const { go, taken } = this.#take(run, own, { count, most: quota, forced, fromTail: isTried });
    if (pace > 0 && go > 0) {
      cursor = Math.ceil(cursor + go * pace);
      host.releaseAt = cursor;
      this.#keepInterval(run, name);
    }
    const triedUntil = isTried && go > 0 ? health.release(probeOf(run.id, run.releases)) : undefined;
    if (own.waiting === 0) own.readyAt = null;
    else if (triedUntil !== undefined) own.readyAt = triedUntil;
    // Half the lead, so that a fast host gets more at once, and so that runs alternate: one that found it not due looks earlier.
    else if (pace > 0 && cursor > now + lead) own.readyAt = cursor - lead / 2;
    else own.readyAt = now;
    return taken;
  }

  #paceOf(run: RunRow, name: string): number {
    const { now } = this.#moves;
    const host = this.#moves.host(name);
    const own = Math.ceil(optionsOf(run).intervalMs);
    const pace = paceOf(host, own, now).intervalMs;
    const { hostConcurrency } = this.#policy;
    if (hostConcurrency === 0 || host.responseMs === null) return pace;
    return Math.max(pace, host.responseMs / hostConcurrency);
  }

  /** Stores the interval of a run whose own is the slowest, for other runs. */
  #keepInterval(run: RunRow, name: string): void {
    const { now } = this.#moves;
    const host = this.#moves.host(name);
    const own = Math.ceil(optionsOf(run).intervalMs);
    if (own === 0 || rateOf(host, own, now) !== own) return;
    host.interval = own;
    host.intervalUntil = now + INTERVAL_KNOWN_MS + 2 * own;
  }

  /** Is the host down for this run? Also stores how long it is waited for, to tell people. */
  #isDown(run: RunRow, own: RunHostRow, { byHand, pausedUntil }: HostRow): boolean {
    const times = timesOf(own);
    if (times === undefined) return false;
    const { now } = this.#moves;
    const { giveUpMs } = this.#policy;
    run.giveUpMs = giveUpMs;
    // Paused by hand: the wait isn't the host's doing.
    return byHand !== 1 && isDown(times, giveUpMs, now, pausedUntil > now);
  }

  /** Returns the last tasks of the first queue that has any. */
  #lastWaiting(run: RunRow, { host }: RunHostRow, limit: number): TaskRow[] {
    for (const queue of QUEUES) {
      const found = this.#moves.database.all<TaskRow>(LAST_WAITING, run.n, host, queue, limit);
      if (found.length > 0) return found;
    }
    return [];
  }

  /** Moves tasks of a host into the ledger. */
  #take(run: RunRow, own: RunHostRow, { count, most, forced, fromTail }: Wanted): { go: number; taken: number } {
    const { now, database, tasks } = this.#moves;
    let go = 0;
    let taken = 0;
    while (go < count && taken < most && own.waiting > 0) {
      const limit = Math.min(count - go, most - taken);
      const batch = fromTail
        ? this.#lastWaiting(run, own, limit)
        : database.all<TaskRow>(FIRST_WAITING, run.n, own.host, limit);
      if (batch.length === 0) break;
      for (const task of batch) {
        const release = ++run.releases;
        const stored = readStored(placeOf(task, run.id), task.form);
        let verdict = stored.problem === undefined ? (forced ?? 'go') : 'malformed';
        if (verdict === 'go') {
          if (task.deadline > 0 && task.deadline <= now) verdict = 'deadline';
          else go++;
        }
        const isQueued = verdict === 'go' && this.#queuesAtOnce;
        const leaseUntil = isQueued ? queuedLease(task, this.#policy, now) : now + PUBLISHING_MS;
        tasks.release(task, release, { phase: isQueued ? 'q' : 'p', leaseUntil, since: now });
        run.waiting--;
        run.inFlight++;
        own.waiting--;
        taken++;
        this.#tasks.push({ verdict, release, ...stored, state: stateOfTask(task) });
      }
    }
    return { go, taken };
  }
}

/** Returns until when a queued task is left alone. */
export function queuedLease(
  { queue, deadline }: Pick<TaskRow, 'queue' | 'deadline'>,
  { priorityTtlMs, normalTtlMs }: FrontierPolicy,
  now: number,
): number {
  const lease = now + (queue === 0 ? priorityTtlMs : normalTtlMs) + QUEUED_PAST_TTL_MS;
  return deadline > 0 ? Math.min(lease, deadline + QUEUED_PAST_DEADLINE_MS) : lease;
}
