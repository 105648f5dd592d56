import type { Clock } from '../../clock.ts';
import {
  type HostLine,
  type OpenedRun,
  PRODUCER_LEASE_MS,
  type RunOptions,
  type RunProgress,
  type Runs,
} from '../../runs.ts';
import { slowestInterval } from './hosts.ts';
import type { MemoryRun, MemoryStore } from './store.ts';

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

  async seal(id: string, producer?: string): Promise<void> {
    const run = this.#store.runs.get(id);
    if (run === undefined) return;
    if (producer === undefined) {
      run.producers.clear();
      run.completed++;
    } else if (run.producers.delete(producer)) {
      run.completed++;
    }
    this.#store.finishIfDone(run, this.#clock.now());
  }

  async pause(id: string): Promise<void> {
    this.#steer(id, 'paused');
  }

  async resume(id: string): Promise<void> {
    this.#steer(id, 'running');
  }

  async cancel(id: string): Promise<void> {
    this.#steer(id, 'cancelled');
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
        const host = this.#store.hosts.get(name);
        const lists = this.#store.listsOf(run, name);
        return {
          host: name,
          waiting: lists.priority.length + lists.normal.length,
          intervalMs: slowestInterval(host, run.options.intervalMs, now),
          pausedMs: Math.max(0, host.pausedUntil - now),
          ...(host.reason === '' ? {} : { reason: host.reason }),
        };
      });
  }

  #steer(id: string, wanted: 'paused' | 'running' | 'cancelled'): void {
    const run = this.#store.runs.get(id);
    if (run === undefined || run.endedAt !== undefined || run.state === 'cancelled' || run.state === wanted) return;
    run.state = wanted;
    const now = this.#clock.now();
    if (wanted === 'running') this.#store.ready.lower(id, now);
    else this.#store.ready.delete(id);
    if (wanted === 'cancelled') run.producers.clear();
    this.#store.finishIfDone(run, now);
  }
}

function progressOf(run: MemoryRun, now: number): RunProgress {
  const alive = [...run.producers.values()].filter((till) => till >= now).length;
  const { id, state, options, discovered, duplicate, waiting, done, skipped, failed, cancelled, bytes, startedAt } =
    run;
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
    startedAt,
    ...(run.endedAt === undefined ? {} : { endedAt: run.endedAt }),
    readAt: now,
    producers: { open: alive, lost: run.producers.size - alive },
  };
}
