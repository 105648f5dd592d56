import {
  LOOK_LEASE_MS,
  type Release,
  type ReleasedTask,
  type ReleaseOptions,
  type ReleaseVerdict,
} from '../../ports/frontier.ts';
import type { Deque } from '../../runtime/deque.ts';
import { RETRY_AFTER_CAP_MS } from '../../task/host/retry-after.ts';
import { QUEUES } from '../../task/task/routing.ts';
import { MALFORMED_HOST } from '../../task/url/fingerprint.ts';
import {
  type FrontierPolicy,
  HIGHEST_START,
  INTERVAL_KNOWN_MS,
  LEAD_MS,
  MOST_LOOKS,
  MOST_RETRIES_WOKEN,
  MOST_RUNS_LOOKED_AT,
  PUBLISHING_MS,
} from '../policy.ts';
import { HostHealth, probeOf } from './host-health.ts';
import { paceOf, rateOf } from './hosts.ts';
import { type MemoryRun, type MemoryStore, type StoredTask, stateOfTask, taskOfStored } from './store.ts';

/** One call of `release`: the memory form of `release.lua`, line for line, so that both can be read side by side. */
export class Releasing {
  readonly #store: MemoryStore;
  readonly #policy: FrontierPolicy;
  readonly #now: number;
  readonly #unpaced: boolean;
  readonly #tasks: ReleasedTask[] = [];
  #looks = 0;

  constructor(store: MemoryStore, policy: FrontierPolicy, now: number, unpaced: boolean) {
    this.#store = store;
    this.#policy = policy;
    this.#now = now;
    this.#unpaced = unpaced;
  }

  run({ limit, window, looker }: ReleaseOptions): Release {
    const { looking } = this.#store;
    const leftMs = looking === undefined ? 0 : looking.till - this.#now;
    if (looker !== undefined && looker !== looking?.looker && leftMs > 0 && leftMs <= LOOK_LEASE_MS) {
      return { tasks: [], nextLookMs: leftMs, now: this.#now, isLeftToOther: true };
    }
    let out = 0;
    for (const run of this.#store.listOpenRuns()) out += run.flights.size;
    let budget = Math.min(limit, window - out);
    const wanting = this.#store.ready
      .due(this.#now, MOST_RUNS_LOOKED_AT)
      .map((id) => this.#store.runs.get(id))
      .filter((run) => run !== undefined);
    const share = Math.floor(window / Math.max(1, wanting.length));
    const outOf = new Map(wanting.map((run) => [run, run.flights.size]));
    // Looks are shared, too: a run with hosts that were all paused at once needs many, and gives nothing for them.
    const looksEach = Math.ceil(MOST_LOOKS / Math.max(1, wanting.length));
    for (const lend of [false, true]) {
      for (const run of wanting) {
        const quota = lend ? budget : Math.min(budget, share - (outOf.get(run) ?? 0));
        const mostLooks = Math.min(lend ? MOST_LOOKS : looksEach, MOST_LOOKS - this.#looks);
        if (quota > 0 && mostLooks > 0) budget -= this.#visitRun(run, quota, mostLooks);
      }
    }
    if (looker !== undefined) {
      // A full look: there is more to do than one can, and whoever comes next helps.
      const isFull = this.#tasks.length >= limit;
      this.#store.looking = isFull ? undefined : { looker, till: this.#now + LOOK_LEASE_MS };
    }
    const first = this.#store.ready.first();
    const nextLookMs = first === undefined ? LEAD_MS : Math.max(0, first.at - this.#now);
    return { tasks: this.#tasks, nextLookMs, now: this.#now };
  }

  #visitRun(run: MemoryRun, quota: number, mostLooks: number): number {
    if (run.state !== 'running') {
      this.#store.ready.delete(run.id);
      return 0;
    }
    run.releases = Math.max(run.releases, Math.min(this.#now * 1_000, HIGHEST_START));
    this.#wakeRetries(run);
    let left = quota;
    for (const host of run.ready.due(this.#now, mostLooks)) {
      if (left <= 0) break;
      this.#looks++;
      left -= this.#visitHost(run, host, left);
    }
    this.#reschedule(run);
    return quota - left;
  }

  /** Retries whose time has come rejoin their host's list, at the head. */
  #wakeRetries(run: MemoryRun): void {
    for (const name of run.retryTimes.due(this.#now, MOST_RETRIES_WOKEN)) {
      const task = run.retries.get(name);
      run.retryTimes.delete(name);
      run.retries.delete(name);
      if (task === undefined) continue;
      this.#store.listsOf(run, task.host)[task.queue].unshift(task);
      run.ready.add(task.host, this.#now);
    }
  }

  /** Sets when to look at a run again: at its first host's or first retry's time. */
  #reschedule(run: MemoryRun): void {
    const at = Math.min(run.ready.first()?.at ?? Infinity, run.retryTimes.first()?.at ?? Infinity);
    if (at === Infinity) this.#store.ready.delete(run.id);
    else this.#store.ready.set(run.id, at);
  }

  /** Releases what is due of one host. Returns how many tasks were taken. */
  #visitHost(run: MemoryRun, name: string, quota: number): number {
    const forced = name === MALFORMED_HOST ? 'malformed' : this.#isDown(run, name) ? 'host_down' : undefined;
    const host = this.#store.hosts.get(name);
    const now = this.#now;
    let count = quota;
    let pace = 0;
    let cursor = now;
    const health = new HostHealth(this.#store, name, now);
    const isTried = forced === undefined && health.isTried;
    if (forced === undefined) {
      const farthest = now + RETRY_AFTER_CAP_MS;
      const paused = Math.min(host.pausedUntil, farthest);
      if (paused > now) {
        const since = host.byHand ? undefined : run.trouble.get(name)?.since;
        const giveUpAt = since === undefined ? paused : Math.max(since + this.#policy.giveUpMs, now + LEAD_MS);
        run.ready.set(name, Math.min(paused, giveUpAt));
        return 0;
      }
      if (!(this.#unpaced && !run.touched)) pace = this.#paceOf(run, name);
      if (pace > 0) {
        // The gate's next slot is ahead of what was released where slots were reached too late, and let go.
        cursor = Math.min(Math.max(now, host.releaseAt, host.nextAt), farthest);
        if (cursor > now + LEAD_MS) {
          run.ready.set(name, cursor - LEAD_MS);
          return 0;
        }
        count = Math.min(quota, Math.floor((now + LEAD_MS - cursor) / pace) + 1);
      }
      const triedUntil = health.triedUntil();
      if (triedUntil !== undefined) {
        run.ready.set(name, triedUntil);
        return 0;
      }
    }
    // The breaker is open, and its time is over: one task tries the host. From the tail: those at the head have just failed.
    if (isTried) count = 1;
    const { go, taken } = this.#take(run, name, { count, most: quota }, forced, isTried);
    if (pace > 0 && go > 0) {
      cursor += go * pace;
      host.releaseAt = cursor;
    }
    const triedUntil = isTried && go > 0 ? health.release(probeOf(run.id, run.releases)) : undefined;
    const lists = this.#store.listsOf(run, name);
    if (lists.priority.length + lists.normal.length === 0) {
      run.ready.delete(name);
      run.lists.delete(name);
    } else if (triedUntil !== undefined) {
      run.ready.set(name, triedUntil);
    } else if (pace > 0 && cursor > now + LEAD_MS) {
      // Half the lead at once for a fast host, and later than another run that found it not due: so runs alternate.
      run.ready.set(name, cursor - LEAD_MS / 2);
    } else {
      run.ready.set(name, now);
    }
    return taken;
  }

  #paceOf(run: MemoryRun, name: string): number {
    const host = this.#store.hosts.get(name);
    const own = run.options.intervalMs;
    let pace = paceOf(host, own, this.#now).intervalMs;
    if (own > 0 && rateOf(host, own, this.#now) === own) {
      host.interval = own;
      host.intervalUntil = this.#now + INTERVAL_KNOWN_MS + 2 * own;
    }
    const { hostConcurrency } = this.#policy;
    if (hostConcurrency > 0 && host.responseMs !== undefined) {
      pace = Math.max(pace, Math.ceil(host.responseMs / hostConcurrency));
    }
    return pace;
  }

  /** A host that gave this run nothing but errors for too long: it still makes us wait, or the last error isn't long ago. */
  #isDown(run: MemoryRun, host: string): boolean {
    const trouble = run.trouble.get(host);
    if (trouble === undefined) return false;
    const { giveUpMs } = this.#policy;
    if (this.#now - trouble.since < giveUpMs) return false;
    // Paused by hand: it is not the host that makes us wait.
    if (this.#store.hosts.get(host).byHand) return false;
    return this.#now - trouble.last < giveUpMs || this.#store.hosts.get(host).pausedUntil > this.#now;
  }

  /**
   * Moves tasks of a host into the ledger: up to `count` that go, and with those that are past their deadline, which wait for
   * nobody's pace, up to `most`.
   */
  #take(
    run: MemoryRun,
    host: string,
    { count, most }: { readonly count: number; readonly most: number },
    forced: ReleaseVerdict | undefined,
    fromTail: boolean,
  ): { go: number; taken: number } {
    const lists = this.#store.listsOf(run, host);
    let go = 0;
    let taken = 0;
    const isMore = (): boolean => go < count && taken < most;
    for (const queue of QUEUES) {
      while (isMore() && lists[queue].length > 0) {
        const [task] = fromTail ? takeLast(lists[queue], 1) : lists[queue].take(1);
        if (task === undefined) break;
        const release = ++run.releases;
        let verdict = forced ?? 'go';
        if (verdict === 'go') {
          if (task.deadline > 0 && task.deadline <= this.#now) verdict = 'deadline';
          else go++;
        }
        run.flights.set(String(release), { phase: 'publishing', task, since: this.#now });
        run.leases.set(String(release), this.#now + PUBLISHING_MS);
        run.waiting--;
        taken++;
        const { problem } = task;
        this.#tasks.push({
          verdict,
          release,
          task: taskOfStored(run.id, task),
          state: stateOfTask(task),
          ...(problem === undefined ? {} : { problem }),
        });
      }
    }
    return { go, taken };
  }
}

function takeLast(list: Deque<StoredTask>, count: number): StoredTask[] {
  const last = count > 0 ? list.takeLast() : undefined;
  return last === undefined ? [] : [last];
}
