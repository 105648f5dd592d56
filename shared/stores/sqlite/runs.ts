import type { HostLine, RunCounts, RunOverview, RunTally } from '../../ports/run-overview.ts';
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
import { newIncarnation } from '../incarnation.ts';
import type { LocalStore } from './moves/local-store.ts';
import type { Moves } from './moves/moves.ts';
import { circumstancesOf } from './moves/rows/host-rows.ts';
import type { RunRow } from './moves/rows/run-rows.ts';
import { optionsOf } from './moves/run-options.ts';
import { progressOf } from './moves/run-progress.ts';
import { lineTroubleOf, NO_TROUBLE } from './moves/troubles.ts';

interface SqliteRunsOptions {
  readonly store: LocalStore;
  /** Only the contract suite sets it; random by default. */
  readonly incarnations?: () => string;
  /** Whether a process is crawling this run now. Not set where no other process can. */
  readonly isBeingCrawled?: (run: string) => boolean;
}

/** The runs of one machine, beside its frontier. */
export class SqliteRuns implements Runs, RunOverview {
  readonly #store: LocalStore;
  readonly #incarnations: () => string;
  readonly #isBeingCrawled: (run: string) => boolean;

  constructor({ store, incarnations = newIncarnation, isBeingCrawled = () => true }: SqliteRunsOptions) {
    this.#store = store;
    this.#incarnations = incarnations;
    this.#isBeingCrawled = isBeingCrawled;
  }

  async open(id: string, options: RunOptions, producer: string, more: OpenHow = {}): Promise<OpenedRun> {
    const { input, incarnation: only, mayRestore } = more;
    const incarnation = this.#incarnations();
    return await this.#store.move((moves) => {
      let run = moves.run(id);
      let how: OpenedRun['how'] = 'joined';
      if (only !== undefined && only !== run?.incarnation && (run !== undefined || mayRestore !== true))
        return { how: 'lost', options, incarnation: only };
      if (run?.state === 'cancelled')
        return { how: 'cancelled', options: optionsOf(run), incarnation: run.incarnation };
      if (run === undefined) {
        how = 'created';
        run = create(moves, id, options, only ?? incarnation);
      } else if (run.state === 'finished') {
        how = 'reopened';
      }
      if (run.opened === null) moves.reopen(run);
      moves.database.run(
        `INSERT INTO producers (run, id, till, input) VALUES (?, ?, ?, ?)
         ON CONFLICT DO UPDATE SET till = excluded.till, input = coalesce(excluded.input, input)`,
        ...[run.n, producer, moves.now + PRODUCER_LEASE_MS, input ?? null],
      );
      return { how, options: optionsOf(run), incarnation: run.incarnation };
    });
  }

  async beat(id: string, producer: string): Promise<void> {
    await this.#store.move(({ database, now }) =>
      database.run(
        'UPDATE producers SET till = ? WHERE id = ? AND run = (SELECT n FROM runs WHERE id = ?)',
        ...[now + PRODUCER_LEASE_MS, producer, id],
      ),
    );
  }

  async seal(id: string, producer?: string, incarnation?: string): Promise<Steered | undefined> {
    return await this.#store.move((moves) => {
      const run = moves.run(id);
      if (run === undefined || (incarnation !== undefined && incarnation !== run.incarnation)) return undefined;
      const was = run.state;
      if (producer === undefined) {
        moves.database.run('DELETE FROM producers WHERE run = ?', run.n);
        run.completed++;
        run.knownOfSeeds = 0;
      } else sealOne(moves, run, producer);
      moves.finishIfDone(run);
      return { was, is: run.state };
    });
  }

  async pause(id: string, reason = ''): Promise<Steered | undefined> {
    return await this.#steer(id, 'paused', reason);
  }

  async resume(id: string): Promise<Steered | undefined> {
    return await this.#steer(id, 'running');
  }

  async cancel(id: string): Promise<Steered | undefined> {
    return await this.#steer(id, 'cancelled');
  }

  async progress(id: string): Promise<RunProgress | undefined> {
    const isOwn = this.#store.owned?.has(id) === true;
    const found = await this.#store.move((moves) => {
      const run = moves.run(id);
      if (run === undefined) return undefined;
      const touchedAt = isOwn || run.endedAt !== null ? undefined : touchedAtOf(moves, id);
      return { progress: progressOf(moves, run), touchedAt };
    });
    if (found?.touchedAt === undefined || this.#isBeingCrawled(id)) return found?.progress;
    return { ...found.progress, stoppedAt: found.touchedAt };
  }

  async standing(id: string): Promise<RunStanding | undefined> {
    return await this.#store.move((moves) => {
      const run = moves.run(id);
      if (run === undefined) return undefined;
      const { incarnation, state, endedAt } = run;
      return { incarnation, state, hasEnded: endedAt !== null };
    });
  }

  async counts(): Promise<RunCounts> {
    return await this.#store.move((moves) => {
      moves.flush();
      const counts = moves.database.get<{ known: number; open: number }>(
        'SELECT count(*) AS known, count(opened) AS open FROM runs',
      );
      return { known: counts?.known ?? 0, open: counts?.open ?? 0 };
    });
  }

  async listOpen(limit: number): Promise<readonly string[]> {
    return await this.#store.move((moves) =>
      moves
        .openRuns()
        .reverse()
        .slice(0, limit)
        .map(({ id }) => id),
    );
  }

  async tallies(limit: number): Promise<readonly RunTally[]> {
    return await this.#store.move((moves) =>
      moves
        .openRuns()
        .reverse()
        .slice(0, limit)
        .map(({ id, startedAt, waiting, inFlight, done, skipped, failed }) => ({
          ...{ run: id, startedAt, readAt: moves.now },
          ...{ waiting, inFlight, done, skipped, failed },
        })),
    );
  }

  async list(limit: number): Promise<readonly string[]> {
    return await this.#store.move(({ database }) =>
      database
        .all<{ id: string }>('SELECT id FROM runs ORDER BY startedAt DESC, id DESC LIMIT ?', limit)
        .map(({ id }) => id),
    );
  }

  async hosts(id: string, limit: number): Promise<readonly HostLine[]> {
    return await this.#store.move((moves) => {
      const run = moves.run(id);
      if (run === undefined) return [];
      moves.flush();
      const rows = moves.database.all<{ host: string; waiting: number }>(
        'SELECT host, waiting FROM runHosts WHERE run = ? AND readyAt IS NOT NULL ORDER BY readyAt DESC, host DESC LIMIT ?',
        ...[run.n, limit],
      );
      const { intervalMs } = optionsOf(run);
      return rows.map(({ host, waiting }) => {
        const trouble = lineTroubleOf(run, moves.runHost(run, host));
        const circumstances = circumstancesOf(moves.host(host), intervalMs, moves.now);
        return { host, waiting, ...circumstances, ...(trouble === undefined ? {} : { trouble }) };
      });
    });
  }

  async hostCount(id: string): Promise<number> {
    return await this.#store.move((moves) => {
      const run = moves.run(id);
      if (run === undefined) return 0;
      moves.flush();
      const [counted] = moves.database.all<{ hosts: number }>(
        'SELECT COUNT(*) AS hosts FROM runHosts WHERE run = ? AND readyAt IS NOT NULL',
        run.n,
      );
      return counted?.hosts ?? 0;
    });
  }

  async #steer(id: string, wanted: 'paused' | 'running' | 'cancelled', reason = ''): Promise<Steered | undefined> {
    return await this.#store.move((moves) => {
      const run = moves.run(id);
      if (run === undefined) return undefined;
      const was = run.state;
      if (run.endedAt !== null || was === 'cancelled' || was === wanted) return { was, is: was };
      run.state = wanted;
      run.pauseReason = reason;
      if (wanted === 'running') {
        forgetTroubles(moves, run);
        moves.lookBy(run, moves.now);
      } else run.lookAt = null;
      if (wanted === 'cancelled') moves.database.run('DELETE FROM producers WHERE run = ?', run.n);
      moves.finishIfDone(run);
      return { was, is: run.state };
    });
  }
}

/** Returns when a process last worked on a run of this machine. */
function touchedAtOf({ database }: Moves, id: string): number | undefined {
  return database.get<{ touchedAt: number }>('SELECT touchedAt FROM crawls WHERE run = ?', id)?.touchedAt;
}

function create(moves: Moves, id: string, options: RunOptions, incarnation: string): RunRow {
  moves.database.run(
    'INSERT INTO runs (id, incarnation, options, startedAt, generation) VALUES (?1, ?2, ?3, ?4, (SELECT 1 FROM crawls WHERE run = ?1))',
    ...[id, incarnation, JSON.stringify(options), moves.now],
  );
  const run = moves.run(id);
  if (run === undefined) throw new Error(`run ${id} was not created`);
  return run;
}

/** Forgets the troubles of a run's hosts, since nobody asked them while the run was paused. */
function forgetTroubles(moves: Moves, run: RunRow): void {
  moves.flush();
  const troubled = moves.database.all<{ host: string }>(
    'SELECT host FROM runHosts WHERE run = ? AND troubleSince IS NOT NULL',
    run.n,
  );
  for (const { host } of troubled) Object.assign(moves.runHost(run, host), NO_TROUBLE);
}

/** Seals a producer that has offered all its seeds. Lost producers of the same input no longer count: it was read to its end. */
function sealOne({ database, now }: Moves, run: RunRow, producer: string): void {
  const sealed = database.get<{ input: string | null }>(
    'SELECT input FROM producers WHERE run = ? AND id = ?',
    run.n,
    producer,
  );
  if (sealed === undefined) return;
  database.run('DELETE FROM producers WHERE run = ? AND id = ?', run.n, producer);
  run.completed++;
  run.knownOfSeeds = 0;
  if (sealed.input !== null)
    database.run('DELETE FROM producers WHERE run = ? AND till < ? AND input = ?', run.n, now, sealed.input);
}
