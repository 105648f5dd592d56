import { type Capacity, type LiveWorker, type Roster, WORKER_SILENT_MS, type WorkerBeat } from '../../ports/roster.ts';
import type { LocalStore } from './moves/local-store.ts';

/** The workers of all local crawls. */
export class SqliteRoster implements Roster {
  readonly #store: LocalStore;

  constructor({ store }: { readonly store: LocalStore }) {
    this.#store = store;
  }

  async beat(worker: WorkerBeat): Promise<void> {
    await this.#store.move(({ database, now }) =>
      database.run(
        'INSERT OR REPLACE INTO workers (id, at, beat) VALUES (?, ?, ?)',
        worker.id,
        now,
        JSON.stringify(worker),
      ),
    );
  }

  async leave(id: string): Promise<void> {
    await this.#store.move(({ database }) => database.run('DELETE FROM workers WHERE id = ?', id));
  }

  async workers(): Promise<readonly LiveWorker[]> {
    return await this.#store.move(({ database, now }) => {
      database.run('DELETE FROM workers WHERE at < ?', now - WORKER_SILENT_MS);
      return database
        .all<{ at: number; beat: string }>('SELECT at, beat FROM workers ORDER BY id')
        .map(({ at, beat }) => ({ ...(JSON.parse(beat) as WorkerBeat), silentMs: Math.max(0, now - at) }));
    });
  }

  async capacity(): Promise<Capacity> {
    const workers = await this.workers();
    return { workers: workers.length, slots: workers.reduce((sum, { slots }) => sum + slots, 0) };
  }
}
