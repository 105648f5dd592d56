import type { Clock } from '../../clock.ts';
import {
  type HostLine,
  type OpenedRun,
  PRODUCER_LEASE_MS,
  type RunOptions,
  type RunProgress,
  type Runs,
  type Steered,
} from '../../runs.ts';
import { circumstancesOf } from './hosts.ts';
import type { MemoryRun, MemoryStore } from './store.ts';

/** Lost producers that are named. */
const MOST_NAMED = 10;

/** The runs of one process, beside its frontier. They are gone when the process is. */
export class MemoryRuns implements Runs {
  readonly #store: MemoryStore;
  readonly #clock: Clock;

  constructor({ store, clock }: { readonly store: MemoryStore; readonly clock: Clock }) {
    this.#store = store;
    this.#clock = clock;
  }

  async open(id: string, options: RunOptions, producer: string, { takesOver = false } = {}): Promise<OpenedRun> {
    const now = this.#clock.now();
    let run = this.#store.runs.get(id);
    let how: OpenedRun['how'] = 'joined';
    if (run?.state === 'cancelled') return { how: 'cancelled', options: run.options };
    if (run === undefined) {
      how = 'created';
      run = this.#store.createRun(id, options, now);
    } else if (run.state === 'finished') {
      how = 'reopened';
      run.state = 'running';
      run.endedAt = undefined;
    }
    this.#store.openRuns.add(id);
    if (takesOver) for (const [other, till] of run.producers) if (till < now) run.producers.delete(other);
    run.producers.set(producer, now + PRODUCER_LEASE_MS);
    return { how, options: run.options };
  }

  async beat(id: string, producer: string): Promise<void> {
    const producers = this.#store.runs.get(id)?.producers;
    if (producers?.has(producer)) producers.set(producer, this.#clock.now() + PRODUCER_LEASE_MS);
  }

  async seal(id: string, producer?: string): Promise<Steered | undefined> {
    const run = this.#store.runs.get(id);
    if (run === undefined) return undefined;
    const was = run.state;
    if (producer === undefined) {
      run.producers.clear();
      run.completed++;
    } else if (run.producers.delete(producer)) {
      run.completed++;
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
    return [...run.ready.names()]
      .sort((a, b) => (run.ready.get(b) ?? 0) - (run.ready.get(a) ?? 0) || (a < b ? 1 : -1))
      .slice(0, limit)
      .map((name) => {
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

function progressOf(run: MemoryRun, now: number): RunProgress {
  const silent = [...run.producers]
    .filter(([, till]) => till < now)
    .sort(([a, aTill], [b, bTill]) => aTill - bTill || (a < b ? -1 : 1))
    .map(([producer, till]) => ({ id: producer, silentMs: now - till + PRODUCER_LEASE_MS }));
  const { id, state, options, discovered, duplicate, waiting, done, skipped, failed, cancelled, startedAt } = run;
  const { bytes, bytesSaved } = run;
  return {
    run: id,
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
