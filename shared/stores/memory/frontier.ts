import {
  type Admission,
  type AttemptHistory,
  type AttemptNote,
  type Claims,
  type Frontier,
  type HandOvers,
  type Ledger,
  MAX_OFFER,
  MAX_STARTS,
  type Offer,
  type OfferOptions,
  type OfferResult,
  type QueuedLeases,
  type Release,
  type ReleaseName,
  type ReleaseOptions,
  type Settlement,
  WORKING_MS,
} from '../../ports/frontier.ts';
import { MAX_HOLD_MS } from '../../ports/host-gate.ts';
import type { Clock } from '../../runtime/clock.ts';
import { ExpiringMap } from '../../runtime/expiring-map.ts';
import { DAY_MS } from '../../task/durations.ts';
import type { FailedReason } from '../../task/task/outcome.ts';
import { QUEUES } from '../../task/task/routing.ts';
import type { Task } from '../../task/task/task.ts';
import {
  type FrontierPolicy,
  LEAD_MS,
  MOST_DRAINED,
  MOST_REAPED,
  QUEUED_PAST_DEADLINE_MS,
  QUEUED_PAST_TTL_MS,
  THROTTLES_BEFORE_TAIL,
} from '../policy.ts';
import { HostHealth, probeOf } from './host-health.ts';
import { Releasing } from './releasing.ts';
import { flightOf, type MemoryRun, type MemoryStore, type StoredTask, stateOfTask, storedTask } from './store.ts';

/** Why a task that isn't known is not taken. */
type Refusal = 'beyond' | 'left out';

const MOST_NOTES = 10;
/** Tasks whose attempts are remembered, those that failed last. */
const MOST_NOTED = 10_000;
const NOTED_MS = DAY_MS;

interface MemoryFrontierOptions {
  readonly store: MemoryStore;
  readonly policy: FrontierPolicy;
  readonly clock: Clock;
}

/**
 * The frontier of one process. It keeps leases, release numbers and lapses as the one in Redis does, and passes the same
 * model; what it can't do is outlive its process or be shared.
 */
export class MemoryFrontier implements Frontier, AttemptHistory, Claims, QueuedLeases, HandOvers, Ledger {
  readonly #store: MemoryStore;
  readonly #policy: FrontierPolicy;
  readonly #clock: Clock;
  readonly #notes: ExpiringMap<readonly AttemptNote[]>;

  constructor({ store, policy, clock }: MemoryFrontierOptions) {
    this.#store = store;
    this.#policy = policy;
    this.#clock = clock;
    this.#notes = new ExpiringMap({ clock, maxEntries: MOST_NOTED, maxBytes: Number.POSITIVE_INFINITY });
  }

  async offer(id: string, tasks: readonly Offer[], options: OfferOptions = {}): Promise<OfferResult> {
    if (tasks.length > MAX_OFFER)
      throw new RangeError(`expected at most ${MAX_OFFER} tasks in one offer, got ${tasks.length}`);
    if (tasks.length === 0) return { accepted: 0, known: 0 };
    const run = this.#store.runs.get(id);
    if (run?.state !== 'running' && run?.state !== 'paused') return { refused: 'run' };
    if (options.incarnation !== undefined && options.incarnation !== run.incarnation) return { refused: 'run' };
    if (options.parent !== undefined && flightOf(run, options.parent) === undefined) return { refused: 'parent' };
    const now = this.#clock.now();
    const marks = this.#store.marksOf(run);
    const room = options.most === undefined ? tasks.length : options.most - run.discovered;
    let [accepted, known, beyond, leftOut] = [0, 0, 0, 0];
    for (const offer of tasks) {
      const task = storedTask(offer, now);
      const hosts = options.mostHosts === undefined ? undefined : hostsOf(run, offer);
      const isOneTooMany = hosts !== undefined && !hosts.has(task.host) && hosts.size >= (options.mostHosts ?? 0);
      const refusal = accepted >= room ? 'beyond' : isOneTooMany ? 'left out' : undefined;
      const answer = this.#take(run, offer, task, { marks, refusal, now });
      if (answer === 'known') known++;
      if (answer === 'beyond') beyond++;
      if (answer === 'left out') leftOut++;
      if (answer !== 'taken') continue;
      hosts?.add(task.host);
      this.#store.listsOf(run, task.host)[task.queue].push(task);
      this.#store.wakeHost(run, task.host, now);
      this.taken(task);
      accepted++;
    }
    run.discovered += accepted;
    run.waiting += accepted;
    if (options.repeat !== true) run.duplicate += known;
    run.leftOutForHost += leftOut;
    return { accepted, known, ...(beyond === 0 ? {} : { beyond }), ...(leftOut === 0 ? {} : { leftOut }) };
  }

  async release(options: ReleaseOptions): Promise<Release> {
    return new Releasing(this.#store, this.#policy, this.#clock.now(), options.unpaced).run(options);
  }

  async queued(id: string, releases: readonly ReleaseName[]): Promise<void> {
    const run = this.#store.runs.get(id);
    const now = this.#clock.now();
    for (const name of releases) {
      const flight = flightOf(run, name);
      if (run === undefined || flight?.phase !== 'publishing') continue;
      const { queue, deadline } = flight.task;
      const ttlMs = queue === 'priority' ? this.#policy.priorityTtlMs : this.#policy.normalTtlMs;
      const till = now + ttlMs + QUEUED_PAST_TTL_MS;
      flight.phase = 'queued';
      run.leases.set(String(name.release), deadline > 0 ? Math.min(till, deadline + QUEUED_PAST_DEADLINE_MS) : till);
    }
  }

  async admit(id: string, name: ReleaseName, worker: string): Promise<Admission> {
    const run = this.#store.runs.get(id);
    if (run === undefined) return { verdict: 'unknown_run' };
    const flight = flightOf(run, name);
    if (flight === undefined) return { verdict: 'gone' };
    const { release } = name;
    run.touched = true;
    const { task } = flight;
    const now = this.#clock.now();
    const health = new HostHealth(this.#store, task.host, now);
    const probe = probeOf(id, release);
    const giveBack = (): void => {
      this.#store.leaveLedger(run, String(release));
      this.#store.putBack(run, task, now);
      if (health.isTried) health.drop(probe);
    };
    if (run.state === 'cancelled' || run.state === 'paused') {
      giveBack();
      if (run.state === 'paused') return { verdict: 'put_back' };
      this.#store.finishIfDone(run, now);
      return { verdict: 'cancelled' };
    }
    const isLate = task.deadline > 0 && task.deadline <= now;
    const pausedMs = Math.max(0, this.#store.hosts.get(task.host).pausedUntil - now);
    if (!isLate && (pausedMs > MAX_HOLD_MS || health.triedUntil(probe) !== undefined)) {
      giveBack();
      return { verdict: 'put_back' };
    }
    flight.phase = 'working';
    flight.worker = worker;
    flight.since = now;
    run.leases.set(String(release), now + WORKING_MS);
    task.starts++;
    const { incarnation } = run;
    if (isLate) return { verdict: 'deadline', incarnation, state: stateOfTask(task) };
    if (task.starts > MAX_STARTS) return { verdict: 'crash_loop', incarnation, state: stateOfTask(task) };
    if (health.isTried) health.admit(probe);
    const known = run.options.incremental ? this.#store.recrawl.get(task.mark, now) : undefined;
    const { answersOthers } = health;
    const admission = { verdict: 'work', incarnation, state: stateOfTask(task), pausedMs, answersOthers } as const;
    return known === undefined ? admission : { ...admission, known };
  }

  async renew(id: string, releases: readonly ReleaseName[]): Promise<void> {
    const run = this.#store.runs.get(id);
    for (const name of releases) {
      if (flightOf(run, name)?.phase === 'working')
        run?.leases.set(String(name.release), this.#clock.now() + WORKING_MS);
    }
  }

  async settle(id: string, name: ReleaseName, settlement: Settlement): Promise<'settled' | 'already'> {
    const { release } = name;
    const run = this.#store.runs.get(id);
    const flight = flightOf(run, name);
    if (run === undefined || flight === undefined) return 'already';
    const now = this.#clock.now();
    const { task } = flight;
    this.#store.leaveLedger(run, String(release));
    if (settlement.moved !== undefined) this.#move(run, task, settlement.moved, now);
    const health = new HostHealth(this.#store, task.host, now);
    if (settlement.hostAnswered === undefined) health.drop(probeOf(id, release));
    else {
      this.#noteTrouble(run, task.host, settlement.hostAnswered, now);
      health.hear(run, settlement);
    }
    if (settlement.attempt !== undefined) this.#note(task.mark, settlement.attempt);
    run.bytes += settlement.bytes ?? 0;
    if (settlement.outcome.kind === 'retry' || settlement.hostAnswered !== undefined) task.starts = 0;
    // Put back before it was asked for: it has neither killed its worker nor been survived.
    else if (flight.worker !== undefined) task.starts = Math.max(0, task.starts - 1);
    this.#apply(run, task, settlement, now);
    const { outcome, hostFreeInMs = 0 } = settlement;
    if (outcome.kind === 'defer' && outcome.host !== undefined) health.pause(outcome.host);
    // Of a pause release knows itself, and when the host will have been in trouble for too long.
    const isPaused = this.#store.hosts.get(task.host).pausedUntil > now;
    if (hostFreeInMs > LEAD_MS && !isPaused && run.ready.has(task.host)) {
      this.#store.postponeHost(run, task.host, now + Math.round(hostFreeInMs) - LEAD_MS);
    }
    this.#store.finishIfDone(run, now);
    return 'settled';
  }

  async fail(run: string, releases: readonly ReleaseName[], reason: FailedReason): Promise<void> {
    for (const release of releases) await this.settle(run, release, { outcome: { kind: 'failed', reason } });
  }

  async reap(): Promise<number> {
    const now = this.#clock.now();
    let budget = MOST_REAPED;
    for (const run of this.#store.listOpenRuns()) {
      const lapsed = run.leases.due(now, budget);
      for (const release of lapsed) {
        const flight = run.flights.get(release);
        this.#store.leaveLedger(run, release);
        if (flight !== undefined) this.#store.putBack(run, flight.task, now);
      }
      if (lapsed.length > 0) this.#store.finishIfDone(run, now);
      budget -= lapsed.length;
      if (budget <= 0) break;
    }
    return MOST_REAPED - budget;
  }

  async drain(): Promise<number> {
    let budget = MOST_DRAINED;
    for (const run of this.#store.listOpenRuns()) {
      if (run.state === 'cancelled') budget -= this.#drainRun(run, budget);
      if (budget <= 0) break;
    }
    return MOST_DRAINED - budget;
  }

  async endQueued(id: string): Promise<{ ended: number; next: undefined }> {
    const run = this.#store.runs.get(id);
    if (run === undefined) return { ended: 0, next: undefined };
    const now = this.#clock.now();
    const queued = [...run.flights].filter(([, { phase }]) => phase === 'queued');
    // Last first: each goes to the head of its list.
    for (const [release, { task }] of queued.reverse()) {
      this.#store.leaveLedger(run, release);
      this.#store.putBack(run, task, now);
    }
    if (queued.length > 0) this.#store.finishIfDone(run, now);
    return { ended: queued.length, next: undefined };
  }

  async handed(id: string, releases: readonly ReleaseName[]): Promise<void> {
    const run = this.#store.runs.get(id);
    for (const name of releases) {
      const flight = flightOf(run, name);
      // One that was admitted meanwhile stays as it is.
      if (run === undefined || flight === undefined || flight.worker !== undefined) continue;
      flight.phase = 'working';
      run.leases.set(String(name.release), this.#clock.now() + WORKING_MS);
    }
  }

  async claim(id: string, name: ReleaseName, mark: string): Promise<'claimed' | 'taken' | 'stale'> {
    const run = this.#store.runs.get(id);
    const own = flightOf(run, name)?.task.mark;
    if (run === undefined || own === undefined) return 'stale';
    if (own === mark || run.claims.get(own) === mark) return 'claimed';
    if (this.#store.marksOf(run).has(mark)) return 'taken';
    this.#store.claim(run, own, mark);
    return 'claimed';
  }

  async markOf(id: string, release: number): Promise<string | undefined> {
    return this.#store.runs.get(id)?.flights.get(String(release))?.task.mark;
  }

  async attempts(mark: string): Promise<readonly AttemptNote[]> {
    return this.#notes.get(mark) ?? [];
  }

  /** Called for each task that an offer takes, before `offer` gives its promise. */
  protected taken(_task: StoredTask): void {}

  #take(
    run: MemoryRun,
    offer: Offer,
    { mark }: StoredTask,
    {
      marks,
      refusal,
      now,
    }: { readonly marks: Set<string>; readonly refusal: Refusal | undefined; readonly now: number },
  ): 'known' | Refusal | 'taken' {
    if (run.failedMarks.has(mark)) return 'known';
    const { recrawl } = this.#store;
    const goesByChanges = run.options.incremental && !('malformed' in offer);
    const isNew = goesByChanges
      ? recrawl.isDueNow(run, offer, { marks, openRuns: this.#store.listOpenRuns(), now })
      : !marks.has(mark);
    if (!isNew) return 'known';
    if (refusal !== undefined) return refusal;
    if (goesByChanges) recrawl.take(run, mark, marks);
    else marks.add(mark);
    return 'taken';
  }

  #apply(run: MemoryRun, task: StoredTask, { outcome, page }: Settlement, now: number): void {
    switch (outcome.kind) {
      case 'done':
      case 'skipped':
      case 'failed':
        this.#store.end(run, task, outcome);
        if (outcome.kind === 'done') this.#notes.delete(task.mark);
        if (outcome.kind !== 'failed' && page !== undefined) this.#store.recrawl.remember(run, task.mark, page, now);
        break;
      case 'retry':
        if (run.state === 'cancelled') {
          this.#store.countCancelled(run, task);
        } else {
          task.attempts++;
          this.#store.retry(run, task, now + Math.round(outcome.inMs));
        }
        break;
      case 'defer': {
        const { host, inMs = 0, throttled = false } = outcome;
        if (host !== undefined || throttled) task.throttles++;
        if (inMs > 0 && run.state !== 'cancelled') {
          this.#store.retry(run, task, now + Math.round(inMs));
          break;
        }
        // Did the host mean all, or this page? Others are to find that out.
        const isUnclear = host !== undefined && host.pauseMs === undefined;
        this.#store.putBack(run, task, now, isUnclear || task.throttles >= THROTTLES_BEFORE_TAIL);
      }
    }
  }

  /** The host that it waited at has answered, with a redirect. */
  #move(run: MemoryRun, task: StoredTask, moved: Task, now: number): void {
    if (moved.host !== task.host) {
      this.#noteTrouble(run, task.host, true, now);
      new HostHealth(this.#store, task.host, now).hear(run, { outcome: { kind: 'defer' }, hostAnswered: true });
    }
    const { run: _, queue: __, mark: ___, ...elsewhere } = moved;
    Object.assign(task, elsewhere);
  }

  #drainRun(run: MemoryRun, budget: number): number {
    const drained: StoredTask[] = [];
    for (const host of [...run.ready.names()]) {
      const lists = this.#store.listsOf(run, host);
      for (const queue of QUEUES) drained.push(...lists[queue].take(budget - drained.length));
      if (lists.priority.length + lists.normal.length > 0) break;
      run.ready.delete(host);
      run.lists.delete(host);
    }
    for (const [name, task] of run.retries) {
      if (drained.length >= budget) break;
      drained.push(task);
      run.retries.delete(name);
      run.retryTimes.delete(name);
    }
    for (const task of drained) this.#store.countCancelled(run, task);
    run.waiting -= drained.length;
    this.#store.finishIfDone(run, this.#clock.now());
    return drained.length;
  }

  #noteTrouble(run: MemoryRun, host: string, answered: boolean, now: number): void {
    if (answered) run.trouble.delete(host);
    else run.trouble.set(host, { since: run.trouble.get(host)?.since ?? now, last: now });
  }

  #note(mark: string, note: AttemptNote): void {
    const notes = [note, ...(this.#notes.get(mark) ?? [])].slice(0, MOST_NOTES);
    this.#notes.set(mark, notes, { ttlMs: NOTED_MS, bytes: 0 });
  }
}

/** The hosts that are counted of an offer's domain; nothing if its aren't. */
function hostsOf({ countedHosts }: MemoryRun, offer: Offer): Set<string> | undefined {
  if ('malformed' in offer || offer.domain === undefined) return undefined;
  const hosts = countedHosts.get(offer.domain) ?? new Set();
  countedHosts.set(offer.domain, hosts);
  return hosts;
}
