import { PRODUCER_LEASE_MS, type RunProgress } from '../../../ports/runs.ts';
import type { Moves } from './moves.ts';
import { reasonsOf } from './reason-counts.ts';
import type { RunRow } from './rows/run-rows.ts';
import { optionsOf } from './run-options.ts';
import { stepCountsOf } from './step-counts.ts';
import { stepFailuresOf } from './step-failures.ts';
import { hostsDownOf } from './troubles.ts';

/** Maximum lost producers that are named. */
const MOST_NAMED = 10;

/** Returns every counter of a run. */
export function progressOf(moves: Moves, run: RunRow): RunProgress {
  const { id, incarnation, state, discovered, duplicate, waiting, inFlight, startedAt, endedAt, pauseReason } = run;
  const { done, skipped, failed, cancelled, bytes, bytesSaved } = run;
  const producers = producersOf(moves, run);
  return {
    run: id,
    incarnation,
    state,
    options: optionsOf(run),
    sealed: run.completed > 0 && producers.open + producers.lost === 0,
    ...{ discovered, duplicate, waiting, inFlight, done, skipped, failed, cancelled },
    leftOut: {
      depth: run.leftOutDepth,
      scope: run.leftOutScope,
      maxPages: run.leftOutMaxPages,
      limit: run.leftOutLimit,
      condition: run.leftOutCondition,
    },
    reasons: reasonsOf(moves.database, run.n),
    hostsDown: hostsDownOf(run),
    ...(optionsOf(run).joins === undefined ? {} : { openGroups: run.openGroups }),
    ...stepCountsOf(moves.database, run.n),
    ...stepFailuresOf(moves.database, run.n),
    bytes,
    bytesSaved,
    startedAt,
    ...(endedAt === null ? {} : { endedAt }),
    readAt: moves.now,
    producers,
    ...(pauseReason === '' ? {} : { pauseReason }),
  };
}

function producersOf({ database, now }: Moves, { n }: RunRow): RunProgress['producers'] {
  const all = database.get<{ open: number; lost: number }>(
    'SELECT count(*) FILTER (WHERE till >= ?1) AS open, count(*) FILTER (WHERE till < ?1) AS lost FROM producers WHERE run = ?2',
    now,
    n,
  ) ?? { open: 0, lost: 0 };
  const silent = database.all<{ id: string; till: number }>(
    'SELECT id, till FROM producers WHERE run = ? AND till < ? ORDER BY till, id LIMIT ?',
    ...[n, now, MOST_NAMED],
  );
  return {
    open: all.open,
    lost: all.lost,
    silent: silent.map(({ id, till }) => ({ id, silentMs: now - till + PRODUCER_LEASE_MS })),
  };
}
