import { type LiveWorker, type Roster, WORKER_SILENT_MS, type WorkerBeat } from '../../ports/roster.ts';
import type { Clock } from '../../runtime/clock.ts';

/** The workers of one process. */
export class LocalRoster implements Roster {
  readonly #clock: Clock;
  readonly #workers = new Map<string, { readonly worker: WorkerBeat; readonly at: number }>();

  constructor({ clock }: { readonly clock: Clock }) {
    this.#clock = clock;
  }

  async beat(worker: WorkerBeat): Promise<void> {
    this.#workers.set(worker.id, { worker, at: this.#clock.now() });
  }

  async leave(id: string): Promise<void> {
    this.#workers.delete(id);
  }

  async workers(): Promise<readonly LiveWorker[]> {
    const now = this.#clock.now();
    for (const [id, { at }] of this.#workers) if (now - at > WORKER_SILENT_MS) this.#workers.delete(id);
    return [...this.#workers.values()].map(({ worker, at }) => ({ ...worker, silentMs: Math.max(0, now - at) }));
  }
}
