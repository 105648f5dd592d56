import type { HostLine, RunCounts, RunOverview } from '../../ports/run-overview.ts';
import {
  type OpenedRun,
  type OpenHow,
  PRODUCER_LEASE_MS,
  type RunOptions,
  type RunProgress,
  type RunStanding,
  type Runs,
  type Steered,
} from '../../ports/runs.ts';
import type { Clock } from '../../runtime/clock.ts';
import { newIncarnation } from '../incarnation.ts';
import { circumstancesOf } from './hosts.ts';
import type { MemoryRun, MemoryStore } from './store.ts';

/** Lost producers that are named. */
const MOST_NAMED = 10;

interface MemoryRunsOptions {
  readonly store: MemoryStore;
  readonly clock: Clock;
  /** Left out everywhere but in the contract suite: random. */
  readonly incarnations?: () => string;
}

/** The runs of one process, beside its frontier. They are gone when the process is. */
export class MemoryRuns implements Runs, RunOverview {
  readonly #store: MemoryStore;
  readonly #clock: Clock;
  readonly #incarnations: () => string;

  constructor({ store, clock, incarnations = newIncarnation }: MemoryRunsOptions) {
    this.#store = store;
    this.#clock = clock;
    this.#incarnations = incarnations;
  }

  async open(id: string, options: RunOptions, producer: string, more: OpenHow = {}): Promise<OpenedRun> {
    const now = this.#clock.now();
    const { input, incarnation: only } = more;
    const incarnation = this.#incarnations();
    let run = this.#store.runs.get(id);
    let how: OpenedRun['how'] = 'joined';
    if (only !== undefined && only !== run?.incarnation && (run !== undefined || more.mayRestore !== true))
      return { how: 'lost', options, incarnation: only };
    if (run?.state === 'cancelled') return { how: 'cancelled', options: run.options, incarnation: run.incarnation };
    if (run === undefined) {
      how = 'created';
      run = this.#store.createRun(id, options, now, only ?? incarnation);
    } else if (run.state === 'finished') {
      how = 'reopened';
      run.state = 'running';
      run.endedAt = undefined;
    }
    this.#store.openRuns.add(id);
    run.producers.set(producer, {
      till: now + PRODUCER_LEASE_MS,
      input: input ?? run.producers.get(producer)?.input,
    });
    return { how, options: run.options, incarnation: run.incarnation };
  }

  async beat(id: string, producer: string): Promise<void> {
    const open = this.#store.runs.get(id)?.producers.get(producer);
    if (open !== undefined) open.till = this.#clock.now() + PRODUCER_LEASE_MS;
  }

  async seal(id: string, producer?: string, incarnation?: string): Promise<Steered | undefined> {
    const run = this.#store.runs.get(id);
    if (run === undefined || (incarnation !== undefined && incarnation !== run.incarnation)) return undefined;
    const was = run.state;
    const sealed = producer === undefined ? undefined : run.producers.get(producer);
    if (producer === undefined) {
      run.producers.clear();
      run.completed++;
    } else if (sealed !== undefined) {
      run.producers.delete(producer);
      run.completed++;
      if (sealed.input !== undefined) forgetLost(run, sealed.input, this.#clock.now());
    }
    this.#store.finishIfDone(run, this.#clock.now());
    return { was, is: run.state };
  }

  async pause(id: string, reason = ''): Promise<Steered | undefined> {
    return this.#steer(id, 'paused', reason);
  }

  async resume(id: string): Promise<Steered | undefined> {
    return this.#steer(id, 'running');
  }

  async cancel(id: string): Promise<Steered | undefined> {
    return this.#steer(id, 'cancelled');
  }

  async progress(id: string): Promise<RunProgress | undefined> {
    const run = this.#store.runs.get(id);
    return run === undefined ? undefined : progressOf(run, this.#clock.now());
  }

  async standing(id: string): Promise<RunStanding | undefined> {
    const run = this.#store.runs.get(id);
    if (run === undefined) return undefined;
    const { incarnation, state, endedAt } = run;
    return { incarnation, state, hasEnded: endedAt !== undefined };
  }

  async counts(): Promise<RunCounts> {
    return { known: this.#store.runs.size, open: this.#store.openRuns.size };
  }

  async listOpen(limit: number): Promise<readonly string[]> {
    return [...this.#store.openRuns].reverse().slice(0, limit);
  }

  async list(limit: number): Promise<readonly string[]> {
    return [...this.#store.runs.values()]
      .sort((a, b) => b.startedAt - a.startedAt || (a.id < b.id ? 1 : -1))
      .slice(0, limit)
      .map(({ id }) => id);
  }

  async hosts(id: string, limit: number): Promise<readonly HostLine[]> {
    const run = this.#store.runs.get(id);
    if (run === undefined) return [];
    const now = this.#clock.now();
    return run.ready.latest(limit).map((name) => {
      const lists = this.#store.listsOf(run, name);
      return {
        host: name,
        waiting: lists.priority.length + lists.normal.length,
        ...circumstancesOf(this.#store.hosts.get(name), run.options.intervalMs, now),
      };
    });
  }

  #steer(id: string, wanted: 'paused' | 'running' | 'cancelled', reason = ''): Steered | undefined {
    const run = this.#store.runs.get(id);
    if (run === undefined) return undefined;
    const was = run.state;
    if (run.endedAt !== undefined || was === 'cancelled' || was === wanted) return { was, is: was };
    run.state = wanted;
    run.pauseReason = reason;
    const now = this.#clock.now();
    if (wanted === 'running') this.#store.ready.lower(id, now);
    else this.#store.ready.delete(id);
    if (wanted === 'cancelled') run.producers.clear();
    this.#store.finishIfDone(run, now);
    return { was, is: run.state };
  }
}

/** What lost producers had begun to read was read to its end, if it was the same. */
function forgetLost(run: MemoryRun, input: string, now: number): void {
  for (const [producer, open] of run.producers)
    if (open.till < now && open.input === input) run.producers.delete(producer);
}

function progressOf(run: MemoryRun, now: number): RunProgress {
  const silent = [...run.producers]
    .filter(([, { till }]) => till < now)
    .sort(([a, { till: aTill }], [b, { till: bTill }]) => aTill - bTill || (a < b ? -1 : 1))
    .map(([producer, { till }]) => ({ id: producer, silentMs: now - till + PRODUCER_LEASE_MS }));
  const {
    id,
    incarnation,
    state,
    options,
    discovered,
    duplicate,
    waiting,
    done,
    skipped,
    failed,
    cancelled,
    startedAt,
  } = run;
  const { bytes, bytesSaved } = run;
  return {
    run: id,
    incarnation,
    state,
    options,
    sealed: run.completed > 0 && run.producers.size === 0,
    discovered,
    duplicate,
    waiting,
    inFlight: run.flights.size,
    done,
    skipped,
    failed,
    cancelled,
    leftOut: { scope: run.leftOutForHost },
    reasons: { failed: { ...run.reasons.failed }, skipped: { ...run.reasons.skipped } },
    bytes,
    bytesSaved,
    startedAt,
    ...(run.endedAt === undefined ? {} : { endedAt: run.endedAt }),
    readAt: now,
    producers: { open: run.producers.size - silent.length, lost: silent.length, silent: silent.slice(0, MOST_NAMED) },
    ...(run.pauseReason === '' ? {} : { pauseReason: run.pauseReason }),
  };
}
