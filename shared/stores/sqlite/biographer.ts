import type { Biographer, Place, TaskTrace } from '../../ports/biographer.ts';
import { MARK, SHARED } from './database/schema.ts';
import type { LocalStore } from './moves/local-store.ts';
import type { Moves } from './moves/moves.ts';
import { circumstancesOf } from './moves/rows/host-rows.ts';
import type { RunRow } from './moves/rows/run-rows.ts';
import { phaseOf, queueOf, stateOfTask, type TaskRow } from './moves/rows/task-rows.ts';
import { optionsOf } from './moves/run-options.ts';

/** Finds tasks in the database. */
export class SqliteBiographer implements Biographer {
  readonly #store: LocalStore;

  constructor({ store }: { readonly store: LocalStore }) {
    this.#store = store;
  }

  async isKnown(mark: string): Promise<boolean> {
    return await this.#store.move(({ marks }) => marks.has(SHARED, mark, MARK.taken));
  }

  async trace(id: string, { mark, host: name }: { mark: string; host: string }): Promise<TaskTrace | undefined> {
    return await this.#store.move((moves) => {
      const run = moves.run(id);
      if (run === undefined) return undefined;
      const { dedup, intervalMs } = optionsOf(run);
      const place = placeOf(moves, run, { mark, host: name });
      const host = (place?.at === 'waiting' ? place.host : undefined) ?? name;
      const { readyAt } = moves.runHost(run, host);
      return {
        run: id,
        runState: run.state,
        hasOwnMarks: dedup === 'run',
        isMarked: moves.isTaken(run, mark),
        hasFailed: moves.marks.has(run.n, mark, MARK.failed),
        ...(place === undefined ? {} : { place }),
        host: {
          ...circumstancesOf(moves.host(host), intervalMs, moves.now),
          nextLookMs: Math.max(0, (readyAt ?? moves.now) - moves.now),
        },
      };
    });
  }
}

function placeOf(
  moves: Moves,
  run: RunRow,
  { mark, host: own }: { readonly mark: string; readonly host: string },
): Place | undefined {
  const { database, now } = moves;
  const id = moves.marks.liveTask(moves.ownerOf(run), mark);
  if (id === undefined) return undefined;
  const task = database.get<TaskRow & { place: number | null }>('SELECT * FROM tasks WHERE id = ?', id);
  if (task === undefined || task.run !== run.n) return undefined;
  const { release, phase, leaseUntil, since, worker, dueAt, host, queue: number, place } = task;
  const about = { queue: queueOf(task), state: stateOfTask(task) };
  if (release !== null && phase !== null) {
    const leased = worker === null ? {} : { worker, forMs: now - (since ?? now) };
    return { at: phaseOf(phase), release, leaseMs: Math.max(0, (leaseUntil ?? now) - now), ...leased, ...about };
  }
  if (dueAt !== null) return { at: 'retry', inMs: Math.max(0, dueAt - now), ...about };
  const before = database.get<{ tasks: number }>(
    `SELECT count(*) AS tasks FROM tasks WHERE run = ?1 AND host = ?2 AND place IS NOT NULL
     AND (queue < ?3 OR (queue = ?3 AND place < ?4))`,
    ...[run.n, host, number, place],
  );
  return { at: 'waiting', ahead: before?.tasks ?? 0, ...(host === own ? {} : { host }), ...about };
}
