import { expect } from 'vitest';
import type { LinkTally, ReleasedTask, ReleaseName, Settlement } from '../../../../shared/ports/frontier/frontier.ts';
import type { RunProgress, RunState } from '../../../../shared/ports/runs.ts';
import { FIRST_STEP, MALFORMED_HOST, stepOfMark } from '../../../../shared/task/url/fingerprint.ts';
import { ModelHost } from './host.ts';

/** Hosts of the model. Only runs with a pace use the slow one, so that the others are released without waiting. */
export const HOSTS = ['a.test', 'b.test:8080', 'slow.test'] as const;
export const FAST_HOSTS = HOSTS.slice(0, 2);
export const SLOW_INTERVAL_MS = 60_000;
export const GIVE_UP_MS = 600_000;

export type Ending = 'done' | 'skipped' | 'failed' | 'cancelled';

/** A task of the model. */
export interface ModelTask {
  readonly mark: string;
  /** The host where it waits: its own, or the one it was redirected to. */
  host: string;
  readonly deadline: number;
  where: 'waiting' | 'flight' | Ending;
  /** The time until which a retry or deferral waits. */
  notBefore: number;
  release: number;
  phase: 'publishing' | 'queued' | 'working';
  /** Whether a worker was admitted to it in its current flight. */
  isAdmitted: boolean;
  leaseEnd: number;
  attempts: number;
  starts: number;
  /** The links that the ledger has counted in its current flight. */
  tally: LinkTally | undefined;
}

interface ModelTrouble {
  readonly since: number;
  last: number;
  kind: 'answered' | 'silent' | 'outage';
  reason: string;
  /** When the host first failed, if it has never answered. */
  silentSince: number | undefined;
  isGivenUp: boolean;
}

export interface ModelRun {
  readonly id: string;
  readonly dedup: 'ever' | 'run';
  readonly incremental: boolean;
  readonly recrawlAfterMs: number;
  readonly intervalMs: number;
  state: RunState;
  ended: boolean;
  completed: number;
  /** Producer → until when it counts as alive, and its input. */
  readonly producers: Map<string, { readonly till: number; readonly input: string }>;
  /** Every task ever accepted. Ended ones are kept for the sums. */
  readonly tasks: ModelTask[];
  readonly seen: Set<string>;
  /** The marks that an incremental run has taken. */
  readonly taken: Set<string>;
  readonly failedMarks: Set<string>;
  /** Mark of a task → the mark it has claimed. */
  readonly claims: Map<string, string>;
  /** Hosts that have answered the run, healthily or not. */
  readonly answered: Set<string>;
  /** Host → its errors since its last healthy answer. */
  readonly trouble: Map<string, ModelTrouble>;
  /** How many hosts were given up, and the first ones with the reason. */
  hostsDown: number;
  readonly namedDown: Map<string, Pick<ModelTrouble, 'kind' | 'reason'>>;
  lastRelease: number;
  bytesSaved: number;
  readonly leftOut: { maxPages: number; limit: number };
}

/** The naive model: every rule in its simplest form, without regard to speed. */
export class Model {
  readonly runs = new Map<string, ModelRun>();
  readonly crawled = new Set<string>();
  readonly #hosts = new Map<string, ModelHost>();
  /** When incremental runs last asked for a page. */
  readonly fetchedAt = new Map<string, number>();
  /** Which run has taken a marked page again, `-` for none. Pages without an entry may be live in any run. */
  readonly takenBy = new Map<string, string>();
  /** Offers of links that the stores have received. */
  readonly offers = new Set<string>();
  readonly #begunAt: number;
  /** The stores' time, which never goes back, and the clock that it is derived from. */
  now: number;
  clock: number;
  /** Whether commands are being replayed to bring the stores back to an earlier state. */
  isRepeating = false;

  constructor(now: number) {
    this.#begunAt = now;
    this.now = now;
    this.clock = now;
  }

  /** Resets the model to its beginning. */
  begin(): void {
    for (const known of [this.runs, this.crawled, this.#hosts, this.fetchedAt, this.takenBy, this.offers])
      known.clear();
    this.now = this.#begunAt;
    this.clock = this.#begunAt;
  }

  /** Steps the clock forward or back. A clock that is behind the stores' time catches up by a tenth of the time that passes. */
  step(ms: number): void {
    const ahead = this.now - this.clock;
    this.clock += ms;
    this.now = this.clock + (ms < 0 ? ahead - ms : Math.max(0, ahead - Math.floor(ms / 10)));
  }

  run(id: string): ModelRun | undefined {
    return this.runs.get(id);
  }

  /** Ends the breaker pauses of all hosts, since a run starts while no other is open. */
  tryHosts(): void {
    for (const host of this.#hosts.values()) host.tryAgain(this.now);
  }

  host(name: string): ModelHost {
    const host = this.#hosts.get(name) ?? new ModelHost();
    this.#hosts.set(name, host);
    return host;
  }

  marks(run: ModelRun): Set<string> {
    return run.dedup === 'run' ? run.seen : this.crawled;
  }

  /** Returns whether a URL is taken when it is offered. */
  takes(run: ModelRun, mark: string, changedAt: number | undefined, isUrl: boolean): boolean {
    if (run.failedMarks.has(mark)) return false;
    const isMarked = this.marks(run).has(mark);
    if (!run.incremental || !isUrl) return !isMarked;
    if (run.taken.has(mark)) return false;
    const fetchedAt = this.fetchedAt.get(mark);
    const isOld = run.recrawlAfterMs > 0 && this.now - (fetchedAt ?? 0) >= run.recrawlAfterMs;
    const isDue = isOld || (fetchedAt !== undefined && changedAt !== undefined && changedAt > fetchedAt);
    if (run.dedup === 'run') return !isMarked && (fetchedAt === undefined || run.recrawlAfterMs === 0 || isDue);
    return !isMarked || (isDue && !this.#mayBeLive(run, mark));
  }

  #mayBeLive(run: ModelRun, mark: string): boolean {
    const by = this.takenBy.get(mark);
    const others = [...this.runs.values()].filter((other) => other !== run && other.dedup === 'ever' && !other.ended);
    if (by === undefined) return others.length > 0;
    return others.some(({ id }) => id === by);
  }

  /** Expects that no two tasks with one mark are live. */
  expectOneLiveTaskPerMark(): void {
    const live = [...this.runs.values()]
      .filter(({ dedup }) => dedup === 'ever')
      .flatMap(({ tasks }) => tasks.filter(({ where }) => where === 'waiting' || where === 'flight'))
      .map(({ mark }) => mark);
    expect(live.length, `one live task per mark, of ${live.join(' ')}`).toBe(new Set(live).size);
  }

  inFlight(run: ModelRun): ModelTask[] {
    return run.tasks.filter(({ where }) => where === 'flight');
  }

  flight(run: ModelRun, { release, mark }: ReleaseName): ModelTask | undefined {
    return this.inFlight(run).find((task) => task.release === release && task.mark === mark);
  }

  out(): number {
    return [...this.runs.values()].reduce((sum, run) => sum + this.inFlight(run).length, 0);
  }

  isPaused(host: string): boolean {
    return this.host(host).isPaused(this.now);
  }

  isDown(run: ModelRun, host: string): boolean {
    const trouble = run.trouble.get(host);
    if (trouble === undefined) return false;
    const { since, last, silentSince } = trouble;
    if (this.now - since >= GIVE_UP_MS) return this.now - last < GIVE_UP_MS || this.isPaused(host);
    if (silentSince === undefined || this.now - silentSince < 60_000 || last - silentSince < 30_000) return false;
    return this.now - last < 60_000 || this.isPaused(host);
  }

  /** Applies the host health in a settlement. Returns whether the host failed and has never answered the run. */
  noteHealth(run: ModelRun, host: string, { hostAnswered, hostSpoke, hostTrouble }: Settlement): boolean {
    const kind = hostTrouble?.kind ?? 'answered';
    if (hostSpoke === true || hostAnswered === true || (hostAnswered === false && kind === 'answered'))
      run.answered.add(host);
    if (hostAnswered === true) run.trouble.delete(host);
    if (hostAnswered !== false) return false;
    const isSilent = kind === 'silent' && !run.answered.has(host);
    const before = run.trouble.get(host);
    run.trouble.set(host, {
      since: before?.since ?? this.now,
      last: this.now,
      kind: kind === 'silent' && !isSilent ? 'answered' : kind,
      reason: hostTrouble?.reason ?? '',
      silentSince: isSilent ? (before?.silentSince ?? this.now) : undefined,
      isGivenUp: before?.isGivenUp ?? false,
    });
    return isSilent;
  }

  #noteGivenUp(run: ModelRun, host: string): void {
    const trouble = run.trouble.get(host);
    if (trouble === undefined || trouble.isGivenUp) return;
    trouble.isGivenUp = true;
    run.hostsDown++;
    if (run.hostsDown <= 10) run.namedDown.set(host, { kind: trouble.kind, reason: trouble.reason });
  }

  /** Puts a task back: it waits, or ends if its run is cancelled. */
  putBack(run: ModelRun, task: ModelTask, notBefore = 0): void {
    if (run.state === 'cancelled') {
      this.end(run, task, 'cancelled');
      return;
    }
    task.where = 'waiting';
    task.notBefore = notBefore;
  }

  end(run: ModelRun, task: ModelTask, ending: Ending, keepsMark = false): void {
    task.where = ending;
    const claimed = run.claims.get(task.mark);
    if (claimed !== undefined && (ending === 'failed' || ending === 'cancelled')) this.freeClaim(run, claimed);
    run.claims.delete(task.mark);
    if (ending === 'cancelled') {
      if (this.takenBy.get(task.mark) === run.id) this.takenBy.set(task.mark, '-');
      else this.marks(run).delete(task.mark);
    }
    if (ending === 'failed' && !keepsMark) {
      this.marks(run).delete(task.mark);
      run.failedMarks.add(task.mark);
      if (run.incremental && run.dedup === 'ever') this.takenBy.delete(task.mark);
    }
  }

  /** Frees a mark that a task has claimed. */
  freeClaim(run: ModelRun, claimed: string): void {
    this.marks(run).delete(claimed);
    run.taken.delete(claimed);
  }

  finishIfDone(run: ModelRun): void {
    const left = run.tasks.some(({ where }) => where === 'waiting' || where === 'flight');
    if (left || run.ended) return;
    if (run.state === 'cancelled') {
      run.ended = true;
    } else if (run.completed > 0 && run.producers.size === 0) {
      run.state = 'finished';
      run.ended = true;
    }
  }

  /** Checks a released task against everything the model knows of it, and moves it to the tasks in flight. */
  takeReleased({ release, task, verdict, state }: ReleasedTask): void {
    const run = this.runs.get(task.run);
    if (run === undefined) throw new Error(`released a task of an unknown run: ${task.run}`);
    expect(run.state, 'only running runs are released').toBe('running');
    expect(release, 'release numbers grow').toBeGreaterThan(run.lastRelease);
    run.lastRelease = release;
    const waiting = run.tasks.filter(({ mark, where }) => mark === task.mark && where === 'waiting');
    expect(waiting.length, `exactly one live task waits for ${task.mark}`).toBe(1);
    const [known] = waiting as [ModelTask];
    expect(known.notBefore, 'a retry is not released before its time').toBeLessThanOrEqual(this.now);
    expect(state.attempts).toBe(known.attempts);
    expect(state.starts).toBe(known.starts);
    expect(task.host).toBe(known.host);
    expect(verdict).toBe(this.#verdictFor(run, known));
    if (task.host !== '?')
      expect(this.isPaused(task.host) && verdict === 'go', 'nothing of a paused host is released').toBe(false);
    if (verdict === 'host_down') this.#noteGivenUp(run, task.host);
    if (verdict === 'go') this.host(task.host).released(task.run, release, this.now);
    known.where = 'flight';
    known.release = release;
    known.phase = 'publishing';
    known.isAdmitted = false;
    known.tally = undefined;
    known.leaseEnd = this.now + 60_000;
  }

  #verdictFor(run: ModelRun, task: ModelTask): ReleasedTask['verdict'] {
    if (task.host === '?') return 'malformed';
    if (this.isDown(run, task.host)) return 'host_down';
    return task.deadline > 0 && task.deadline <= this.now ? 'deadline' : 'go';
  }

  /** Returns the tasks that a release with room left must have taken: those of healthy hosts and one of each host to be probed. */
  overdue(): ModelTask[] {
    const mayWait = (name: string): boolean => {
      const host = this.host(name);
      return host.isPaused(this.now) || host.isSlowed(this.now) || host.isTriedByOther('', 0, this.now);
    };
    return [...this.runs.values()]
      .filter((run) => run.state === 'running' && run.intervalMs === 0)
      .flatMap((run) => run.tasks)
      .filter((task) => task.where === 'waiting' && task.notBefore <= this.now && !mayWait(task.host));
  }

  /** Compares the progress that a store reports of a run with the model. */
  expectProgress(run: ModelRun, progress: RunProgress | undefined): void {
    if (progress === undefined) throw new Error(`the store has lost ${run.id}`);
    const count = (where: ModelTask['where']): number => run.tasks.filter((task) => task.where === where).length;
    const { discovered, waiting, inFlight, done, skipped, failed, cancelled } = progress;
    expect(waiting + inFlight + done + skipped + failed + cancelled, 'the identity').toBe(discovered);
    expect({ discovered, waiting, inFlight, done, skipped, failed, cancelled, state: progress.state }).toEqual({
      discovered: run.tasks.length,
      waiting: count('waiting'),
      inFlight: count('flight'),
      done: count('done'),
      skipped: count('skipped'),
      failed: count('failed'),
      cancelled: count('cancelled'),
      state: run.state,
    });
    expect(progress.steps ?? {}).toEqual(stepCounts(run));
    expect(progress.bytesSaved).toBe(run.bytesSaved);
    expect(progress.leftOut).toMatchObject(run.leftOut);
    expect(progress.hostsDown.count).toBe(run.hostsDown);
    expect(new Map(progress.hostsDown.named.map(({ host, ...why }) => [host, why]))).toEqual(run.namedDown);
    expect(progress.endedAt !== undefined).toBe(run.ended);
    expect(progress.sealed).toBe(run.completed > 0 && run.producers.size === 0);
    if (progress.state === 'finished') expect(waiting + inFlight, 'finished only when empty').toBe(0);
  }
}

/** Counts the tasks whose marks carry a step, by step. */
function stepCounts({ tasks }: ModelRun): object {
  const marked = tasks.filter(({ mark, host }) => stepOfMark(mark) !== FIRST_STEP && host !== MALFORMED_HOST);
  const steps = [...new Set(marked.map(({ mark }) => stepOfMark(mark)))];
  const countsOf = (step: string): object => {
    const own = marked.filter(({ mark }) => stepOfMark(mark) === step);
    const count = (where: Ending): number => own.filter((task) => task.where === where).length;
    return { discovered: own.length, done: count('done'), skipped: count('skipped'), failed: count('failed') };
  };
  return Object.fromEntries(steps.map((step) => [step, countsOf(step)]));
}
