import type { Biographer, Place, TaskTrace } from '../../ports/biographer.ts';
import type { Clock } from '../../runtime/clock.ts';
import { QUEUES } from '../../task/task/routing.ts';
import { circumstancesOf } from './hosts.ts';
import { type MemoryRun, type MemoryStore, stateOfTask } from './store.ts';

/** Finds tasks in the memory of one process. */
export class MemoryBiographer implements Biographer {
  readonly #store: MemoryStore;
  readonly #clock: Clock;

  constructor({ store, clock }: { readonly store: MemoryStore; readonly clock: Clock }) {
    this.#store = store;
    this.#clock = clock;
  }

  async isKnown(mark: string): Promise<boolean> {
    return this.#store.crawledUrls.has(mark);
  }

  async trace(id: string, { mark, host: name }: { mark: string; host: string }): Promise<TaskTrace | undefined> {
    const run = this.#store.runs.get(id);
    if (run === undefined) return undefined;
    const now = this.#clock.now();
    const place = placeOf(run, mark, name, now);
    return {
      run: id,
      runState: run.state,
      hasOwnMarks: run.options.dedup === 'run',
      isMarked: this.#store.marksOf(run).has(mark),
      hasFailed: run.failedMarks.has(mark),
      ...(place === undefined ? {} : { place }),
      host: {
        ...circumstancesOf(this.#store.hosts.get(name), run.options.intervalMs, now),
        nextLookMs: Math.max(0, (run.ready.get(name) ?? now) - now),
      },
    };
  }
}

function placeOf(run: MemoryRun, mark: string, host: string, now: number): Place | undefined {
  for (const [release, { phase, task, worker, since }] of run.flights) {
    if (task.mark !== mark) continue;
    const held = worker === undefined ? {} : { worker, forMs: now - since };
    const leaseMs = Math.max(0, (run.leases.get(release) ?? now) - now);
    return { at: phase, queue: task.queue, release: Number(release), leaseMs, ...held, state: stateOfTask(task) };
  }
  let ahead = 0;
  for (const queue of QUEUES) {
    for (const task of run.lists.get(host)?.[queue].values() ?? []) {
      if (task.mark === mark) return { at: 'waiting', queue, ahead, state: stateOfTask(task) };
      ahead++;
    }
  }
  for (const [name, task] of run.retries) {
    if (task.mark !== mark) continue;
    const inMs = Math.max(0, (run.retryTimes.get(name) ?? now) - now);
    return { at: 'retry', queue: task.queue, inMs, state: stateOfTask(task) };
  }
  return undefined;
}
